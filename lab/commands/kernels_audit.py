"""`kvlab kernels audit`: each kernel against its float64 reference, on the device that is here."""

from __future__ import annotations

from typing import Annotated

import typer

from lab.commands import options as o
from lab.commands.output import show, show_json

Where = Annotated[
    o.Device,
    typer.Option(
        "--device",
        help="`cuda`: the compiled kernels, at large sizes. `cpu`: the reference operations, and "
        "the kernels too where TRITON_INTERPRET=1 was set.",
    ),
]
Only = Annotated[
    str,
    typer.Option(
        "--only", metavar="TEXT", help="Only checks with it in `kernel: check`; or `jaccard`."
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="N", min=0, help="Each seed draws other inputs.")
]


def audit(
    device: Where = o.Device.CPU, only: Only = "", seed: Seed = 0, as_json: o.Json = False
) -> None:
    """Check each kernel on random and adversarial inputs, addresses beyond 32 bits, and which
    entries each index-K format selects. Exits with 1 where anything is out of bounds.
    """
    from lab.auditing import perform
    from lab.auditing.tables import tables
    from lab.progress import counting

    with counting("audit", "checks") as tick:
        document = perform.audit(device.value, only, seed, tick)
    if as_json:
        show_json(document)
    else:
        show(tables(document))
    raise typer.Exit(int(bool(perform.failed(document))))
