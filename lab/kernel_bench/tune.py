"""One tuning run: compile everything, measure the ceilings, then time case after case.

Rule: what is finished is written at once, so that a run that is cut short has told what it knew.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from lab.kernel_bench import ceilings, compiling, device
from lab.kernel_bench.found import gathered
from lab.kernel_bench.stopwatch import GpuStopwatch
from lab.kernel_bench.tuning import Tuner
from lab.kernel_bench.words import write_json

if TYPE_CHECKING:
    from pathlib import Path

    from lab.kernel_bench.trying import Say

FILE = "tune.json"


def tune(only: str, seconds: float, say: Say, out: Path) -> dict[str, Any]:
    """Times every candidate of the cases whose names have `only` in them, `seconds` a case at most.

    The document is also written to `out`, after each case.
    """
    device.require()
    found = gathered("cuda", only, say)
    failed = compiling.compile_all(found, say, tuning=True)
    limits = ceilings.measured()
    tuner = Tuner(GpuStopwatch(), limits, failed, seconds, say)
    document = device.described() | {"ceilings": asdict(limits), "cases": []}
    for _, case in found:
        document["cases"].append(tuner.tune(case).document())
        write_json(document, out, FILE)
    say(f"{FILE} is in {out}")
    return document
