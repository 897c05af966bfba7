"""One tuning run: compile everything, measure the ceilings, then time case after case.

Rule: what is finished is written at once, so that a run that is cut short has told what it knew.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from engine.clock import wall_s
from lab.kernel_bench import ceilings, compiling, device
from lab.kernel_bench.found import gathered
from lab.kernel_bench.stopwatch import GpuStopwatch
from lab.kernel_bench.tuning import Say, Tuner
from lab.versions import cores

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kernels.production.case import Case

FILE = "tune.json"


def tune(only: str, seconds: float, say: Say, out: Path | None = None) -> dict[str, Any]:
    """Times every candidate of the cases whose names have `only` in them, `seconds` a case at most.

    The document is also written to `out`, after each case.
    """
    device.require()
    found = gathered("cuda", only, say)
    failed = compile_all(found, say)
    limits = ceilings.measured()
    tuner = Tuner(GpuStopwatch(), limits, failed, seconds, say)
    document = device.described() | {"ceilings": asdict(limits), "cases": []}
    for _, case in found:
        document["cases"].append(tuner.tune(case).document())
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            (out / FILE).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return document


def compile_all(found: Sequence[tuple[str, Case]], say: Say) -> dict[tuple[str, str], str]:
    """Fills Triton's cache; what went wrong, by case and candidate."""
    began, todo = wall_s(), compiling.tasks(found, "cuda")
    say(f"compiling {len(todo)} versions of {len(found)} cases on {cores()} processes")
    failed = {}
    for task, error in compiling.compiled(todo, cores()):
        if error:
            failed[task.case, task.candidate] = error
            say(f"  {task.case}: {task.candidate}: {error}")
    say(f"compiled in {wall_s() - began:.0f} s; {len(failed)} failed")
    return failed
