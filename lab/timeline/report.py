"""What was drawn, for a person and as a document. One rule: what an arm cannot show is said."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from lab.report.grid import Fitted

if TYPE_CHECKING:
    from lab.timeline.writing import Written

VIEWER = "https://ui.perfetto.dev"
HEADS = ("arm", "spans", "turns", "instants", "arrows")
UNTOLD = (
    "stored without spans, by an older kvlab: steps, copies and transfers are not drawn; turns, "
    "instants and counters are. The same run again stores them."
)


def timeline_report(written: Written) -> RenderableType:
    """A row an arm, and what is missing."""
    rows = [
        [arm.name, *(f"{n:,}" for n in (arm.spans, arm.turns, arm.instants, arm.arrows))]
        for arm in written.arms
    ]
    untold = [arm.name for arm in written.arms if not arm.told]
    who = "every arm was" if len(untold) == len(rows) else f"{', '.join(untold)}:"
    return Group(Fitted(HEADS, rows), *([Text(f"{who} {UNTOLD}")] if untold else []))


def timeline_document(written: Written) -> dict[str, Any]:
    """The same, JSON-ready; the trace itself is in the file."""
    arms = [asdict(arm) for arm in written.arms]
    return {"run": written.run, "file": str(written.path), "viewer": VIEWER, "arms": arms}
