"""What the reference operations cost on a CPU, at the sizes of the bundled engine.

Rule: nothing here is compared with a kernel: it tells a user without a GPU where the time goes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import torch
from rich import box
from rich.console import Group
from rich.table import Table

from kernels.bench import Load, measure, measure_copies
from kernels.ops import Ops
from lab.errors import UserError
from lab.kernel_bench.device import described

if TYPE_CHECKING:
    from rich.console import RenderableType

    from lab.kernel_bench.trying import Say


def document(only: str, say: Say, load: Load | None = None, seconds: float = 0.2) -> dict[str, Any]:
    """Milliseconds of each operation whose name has `only` in it, GB/s of each copy. Raises
    UserError where there is none.
    """
    ops, load = Ops.reference(), load or Load()
    figures, copies = [], []
    for figure in measure(ops, load, seconds=seconds, only=only.lower()):
        say(f"{figure.name}: {figure.ms:.3f} ms")
        figures.append(asdict(figure))
    for copy in measure_copies(ops, seconds=seconds, only=only.lower()):
        say(f"{copy.name}: {copy.gb_per_s:.2f} GB/s")
        copies.append(asdict(copy))
    if not figures and not copies:
        raise UserError(f"--only: no operation and no copy has {only!r} in its name")
    threads = torch.get_num_threads()
    about = described() | {"device": f"cpu, {threads} threads", "load": asdict(load)}
    return about | {"operations": figures, "copies": copies}


def table(found: Mapping[str, Any]) -> RenderableType:
    """The document for a person."""
    load = found["load"]
    title = f"{found['device']}: {load['rows']} requests of {load['tokens']:,} tokens"
    made = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    made.add_column("operation")
    made.add_column("part of")
    made.add_column("ms", justify="right")
    for each in found["operations"]:
        part = "decode step" if each["decode"] else "prefill chunk"
        made.add_row(each["name"], part, f"{each['ms']:.3f}")
    copies = Table(title="copies of 16 pages", title_justify="left", box=box.SIMPLE_HEAD)
    copies.add_column("copy")
    copies.add_column("GB/s", justify="right")
    for each in found["copies"]:
        copies.add_row(each["name"], f"{each['gb_per_s']:.2f}")
    return Group(made, copies)
