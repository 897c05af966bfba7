"""`kvlab kernels bench`: what the kernels take, on the GPU that is here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lab.commands import kernels_audit
from lab.commands import options as o
from lab.commands.output import note, show_measured

app = typer.Typer(no_args_is_help=True, help="Measure the kernels, and check them.")
Only = Annotated[
    str, typer.Option("--only", metavar="TEXT", help="Only cases whose names have it in them.")
]
Tune = Annotated[bool, typer.Option("--tune", help="Time every candidate of block sizes instead.")]
Seconds = Annotated[
    float | None,
    typer.Option("--seconds", metavar="N", min=0, help="With --tune: budget of a case; 20."),
]
Folder = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="DIR", help="Folder of figure and document; by default results/kernels."
    ),
]
DEFAULT, SECONDS = Path("results/kernels"), 20.0


Where = Annotated[
    o.Device, typer.Option("--device", help="`cpu`: what the reference operations cost there.")
]


@app.callback()
def kernels() -> None:
    """Measure the kernels, and check them."""


app.command("audit")(kernels_audit.audit)


@app.command("bench")
def bench(
    tune: Tune = False,
    only: Only = "",
    seconds: Seconds = None,
    device: Where = o.Device.CUDA,
    out: Folder = None,
    as_json: o.Json = False,
) -> None:
    """Time every kernel at production's sizes beside torch and the floor of its bytes."""
    from lab.kernel_bench import on_cpu, run, tables
    from lab.kernel_bench import tune as tuning

    _refuse(device, tune, seconds, out)
    folder = out or DEFAULT
    if device is o.Device.CPU:
        show_measured(on_cpu.document(only, note), on_cpu.table, as_json)
    elif tune:
        budget = SECONDS if seconds is None else seconds
        show_measured(tuning.tune(only, budget, note, folder), tables.tuned, as_json)
    else:
        show_measured(run.bench(only, note, folder), tables.measured, as_json)


def _refuse(device: o.Device, tune: bool, seconds: float | None, out: Path | None) -> None:
    """Raises UserError, one line, at an option that would mean nothing."""
    from lab.errors import UserError

    if device is o.Device.CPU:
        given = {"--tune": tune, "--seconds": seconds is not None, "--out": out is not None}
        if useless := [name for name, is_given in given.items() if is_given]:
            raise UserError(f"{', '.join(useless)}: means nothing with --device cpu")
    elif seconds is not None and not tune:
        raise UserError("--seconds: means nothing without --tune")
