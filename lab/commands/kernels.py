"""`kvlab kernels bench`: what the kernels take, on the GPU that is here."""

from __future__ import annotations

from enum import StrEnum
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
    float, typer.Option("--seconds", metavar="N", min=0, help="With --tune: budget of a case.")
]
Folder = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="Folder of the figure and the document.")
]
DEFAULT = Path("results/kernels")


class Device(StrEnum):
    """What can be measured."""

    CUDA = "cuda"
    CPU = "cpu"


Where = Annotated[
    Device, typer.Option("--device", help="`cpu`: what the reference operations cost there.")
]


@app.callback()
def kernels() -> None:
    """Measure the kernels, and check them."""


app.command("audit")(kernels_audit.audit)


@app.command("bench")
def bench(
    tune: Tune = False,
    only: Only = "",
    seconds: Seconds = 20.0,
    device: Where = Device.CUDA,
    out: Folder = DEFAULT,
    as_json: o.Json = False,
) -> None:
    """Time every kernel at production's sizes beside torch and the floor of its bytes."""
    from lab.kernel_bench import on_cpu, run, tables
    from lab.kernel_bench import tune as tuning

    if device is Device.CPU:
        show_measured(on_cpu.document(only, note), on_cpu.table, as_json)
    elif tune:
        show_measured(tuning.tune(only, seconds, note, out), tables.tuned, as_json)
    else:
        show_measured(run.bench(only, note, out), tables.measured, as_json)
