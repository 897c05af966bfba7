"""One measuring run over all cases: compile, measure the ceilings, then case after case.

Rule: the document is the result; the table and the figure are drawn from it alone.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from lab.kernel_bench import ceilings, compiling, device
from lab.kernel_bench.found import gathered
from lab.kernel_bench.measuring import Bench
from lab.kernel_bench.stopwatch import GpuStopwatch
from lab.kernel_bench.words import write_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lab.kernel_bench.trying import Say

FILE, FIGURE = "bench.json", "roofline"


def bench(only: str, say: Say, out: Path) -> dict[str, Any]:
    """Measures the cases whose names have `only` in them; writes the document and its figure."""
    device.require()
    found = gathered("cuda", only, say)
    failed = compiling.compile_all(found, say, tuning=False)
    limits = ceilings.measured()
    measures = Bench(GpuStopwatch(), limits, failed, say)
    document = device.described() | {"ceilings": asdict(limits), "cases": []}
    for _, case in found:
        document["cases"].append(measures.measure(case).document())
        write_json(document, out, FILE)
    draw(document, out)
    say(f"{FILE} and {FIGURE}.png are in {out}")
    return document


def draw(document: Mapping[str, Any], folder: Path) -> None:
    """The figure of a run; none of a run without cases."""
    from lab.plots.roofline import roofline
    from lab.plots.style import save, styled

    if document["cases"]:
        with styled():
            save(roofline(document), folder, FIGURE)
