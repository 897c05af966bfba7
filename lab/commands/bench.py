"""`kvlab bench engine|bisect|ledger|load|store`: measurements of the engine and the lab itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lab.commands import options as o
from lab.commands.output import show, show_json, show_measured

app = typer.Typer(no_args_is_help=True, help="Measure the engine, and the lab itself.")
Worlds = Annotated[
    int | None,
    typer.Option("--worlds", metavar="N", min=1, max=100_000, help="Worlds a cell; 200, quick 20."),
]
Methods = Annotated[
    str, typer.Option("--methods", metavar="A,B", help="Only these; by default, all.")
]
Rounds = Annotated[
    int, typer.Option("--rounds", metavar="N", min=1, max=1000, help="Runs of each level.")
]
Quick = Annotated[bool, typer.Option("--quick", help="One rate, no misspecified worlds.")]


Device = Annotated[str, typer.Option("--device", metavar="D", help="cpu, cuda or cuda:<number>.")]
Steps = Annotated[
    int, typer.Option("--steps", metavar="N", min=1, max=10_000, help="Decode steps watched.")
]
Levels = Annotated[
    str, typer.Option("--sessions", metavar="N,M", help="Sessions at once, a run for each.")
]
Rate = Annotated[
    float, typer.Option("--rate", metavar="R", min=0, help="Arrivals a second; 0: all at once.")
]
Seconds = Annotated[
    float, typer.Option("--seconds", metavar="S", min=0.1, max=600, help="How long a run takes.")
]
Tokens = Annotated[
    int, typer.Option("--tokens", metavar="N", min=2, max=10_000, help="Of each reply.")
]
Gap = Annotated[
    float, typer.Option("--itl-ms", metavar="MS", min=0.1, help="From token to token, as sent.")
]
First = Annotated[
    float, typer.Option("--ttft-ms", metavar="MS", min=0, help="To the first token, as sent.")
]
Beside = Annotated[
    str, typer.Option("--beside", metavar="NAME", help="Another generator: aiperf, guidellm.")
]
Replies = Annotated[
    int, typer.Option("--replies", metavar="N", min=16, help="Made up and stored, about as many.")
]
Folder = Annotated[
    Path | None,
    typer.Option(
        "--dir", metavar="DIR", help="Where the file is made, and deleted; by default a temporary."
    ),
]
Python = Annotated[
    str, typer.Option("--python", metavar="PATH", help="The Python of an environment with it.")
]


@app.command("engine")
def engine(
    device: Device = "cpu",
    sessions: o.Sessions = 64,
    steps: Steps = 32,
    seed: o.Seed = None,
    as_json: o.Json = False,
) -> None:
    """Tokens a second in decode and prefill, graph on and off, and each kernel's share."""
    from lab.bench_engine import load, measure, table
    from lab.progress import counting

    scenario = load(sessions or 64, device)
    with counting("bench engine", "runs") as tick:
        document = measure(scenario, tick, steps, seed or 0)
    show_measured(document, table, as_json)


@app.command("bisect")
def bisect_(
    worlds: Worlds = None,
    methods: Methods = "",
    quick: Quick = False,
    jobs: o.Jobs = None,
    seed: o.Seed = None,
    as_json: o.Json = False,
) -> None:
    """Compare the ways to bisect on simulated worlds: sessions to a verdict, and wrong ones."""
    from lab.bench_bisect import document, measure, planned
    from lab.bench_bisect_cells import TOGGLES, selected
    from lab.bench_bisect_table import tables
    from lab.bisecting.workers import Workers
    from lab.progress import counting
    from lab.versions import cores

    groups = selected([name.strip() for name in methods.split(",") if name.strip()], quick)
    work = planned(groups, worlds or (20 if quick else 200), seed or 0)
    with counting("bench bisect", "worlds") as tick, Workers(jobs or cores()) as workers:
        cells = measure(work, tick, workers.run)
    if as_json:
        show_json(document(cells, seed or 0))
    else:
        show(tables(cells, len(TOGGLES)))


@app.command("ledger")
def ledger(
    sessions: o.Sessions = 24,
    rounds: Rounds = 3,
    seed: o.Seed = None,
    as_json: o.Json = False,
) -> None:
    """Compare what the levels of the shadow memory cost: one reference load at each, in turn."""
    from lab.bench_ledger import document, load, measure, table
    from lab.progress import counting

    n = sessions or 24
    with counting("bench ledger", "runs") as tick:
        levels = measure(load(n), rounds, seed or 0, tick)
    if as_json:
        show_json(document(levels, n, rounds, seed or 0))
    else:
        show(table(levels, n, rounds))


@app.command("load")
def load_(
    levels: Levels = "64,256",
    rate: Rate = 0.0,
    seconds: Seconds = 5.0,
    tokens: Tokens = 64,
    itl_ms: Gap = 10.0,
    ttft_ms: First = 20.0,
    beside: Beside = "",
    python: Python = "",
    rounds: Rounds = 1,
    as_json: o.Json = False,
) -> None:
    """Our load generator against a server whose times are known, and another beside it."""
    from lab.bench_load.measuring import Plan, levels_of, measure
    from lab.bench_load.mock import Pace
    from lab.bench_load.tables import table
    from lab.progress import counting

    pace = Pace(ttft_ms / 1e3, itl_ms / 1e3, tokens)
    plan = Plan(levels_of(levels), rate, seconds, rounds, beside, python, pace)
    with counting("bench load", "runs") as tick:
        document = measure(plan, tick)
    show_measured(document, table, as_json)


@app.command("store")
def store(replies: Replies = 1_000_000, folder: Folder = None, as_json: o.Json = False) -> None:
    """The database under many replies: how fast they go in, and how long questions take."""
    from lab.bench_store import measure, table
    from lab.progress import counting

    with counting("bench store", "replies") as tick:
        document = measure(replies, folder, tick)
    show_measured(document, table, as_json)
