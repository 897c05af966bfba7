"""What `kvlab doctor` finds. One rule: every fact is measured now, and what fails says why."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

import torch
from rich import box
from rich.table import Table
from rich.text import Text

from lab.errors import StoreError
from lab.memory import GIB, machine_bytes
from lab.store import open_results
from lab.versions import cores, versions

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType


def examine(db: Path, bench: bool = False) -> dict[str, Any]:
    """The facts by section; ``bench`` adds a measured load, which takes about a minute."""
    facts: dict[str, Any] = {
        "versions": versions(),
        "machine": machine(),
        "kernels": kernels(),
        "database": database(db),
    }
    if bench:
        from lab.bench import measure

        facts["bench"] = measure()
    return facts


def machine() -> dict[str, Any]:
    """Cores, memory in GiB, torch's threads, and the GPU if there is one."""
    gpu = torch.cuda.get_device_name(0) if torch.cuda.is_available() else "none"
    return {
        "cores": cores(),
        "memory_gib": round(machine_bytes() / GIB, 1),
        "free_gib": round(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / GIB, 1),
        "torch_threads": torch.get_num_threads(),
        "gpu": gpu,
    }


def kernels() -> dict[str, Any]:
    """Which operations an engine gets here, and whether Triton could be used."""
    try:
        importlib.import_module("triton")
    except ImportError as error:
        return {"operations": "torch reference", "triton": f"cannot be imported: {error}"}
    if torch.cuda.is_available():
        return {"operations": "triton", "triton": "compiles for the GPU"}
    return {"operations": "torch reference", "triton": "no GPU; interpreted in tests only"}


def database(path: Path) -> dict[str, Any]:
    """Whether the results database opens, and what it holds."""
    found: dict[str, Any] = {"path": str(path)}
    if not path.exists():
        return {**found, "state": "absent; `kvlab run` makes it"}
    try:
        with open_results(path, create=False) as results:
            runs = len(results.runs())
    except StoreError as error:
        return {**found, "state": str(error)}
    return {**found, "state": "opens", "runs": runs, "bytes": path.stat().st_size}


def facts_table(facts: dict[str, Any]) -> RenderableType:
    """The facts for a person, a section after the other."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_header=False)
    table.add_column("what")
    table.add_column("found", overflow="fold")
    for section, values in facts.items():
        table.add_row(Text(section, style="bold"), "")
        for key, value in values.items():
            table.add_row(f"  {key}", Text(str(value)))
        table.add_section()
    return table
