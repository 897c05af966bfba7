"""`kvlab kernels bench`: what the kernels take, on the GPU that is here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lab.commands import options as o
from lab.commands.output import note, show, show_json

app = typer.Typer(no_args_is_help=True, help="Measure the kernels.")
Only = Annotated[
    str, typer.Option("--only", metavar="TEXT", help="Only cases whose names have it in them.")
]
Tune = Annotated[bool, typer.Option("--tune", help="Time every candidate of block sizes instead.")]
Seconds = Annotated[
    float, typer.Option("--seconds", metavar="N", min=0, help="With --tune: budget of a case.")
]
Folder = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Folder of what is made.")
]


@app.callback()
def kernels() -> None:
    """Measure the kernels."""


@app.command("bench")
def bench(
    tune: Tune = False,
    only: Only = "",
    seconds: Seconds = 20.0,
    out: Folder = None,
    as_json: o.Json = False,
) -> None:
    """Time every kernel at production's sizes beside torch and the floor of its bytes."""
    from lab.kernel_bench import tables
    from lab.kernel_bench.tune import tune as tuned

    document = tuned(only, seconds, note, out)
    if as_json:
        show_json(document)
    else:
        show(tables.tuned(document))
