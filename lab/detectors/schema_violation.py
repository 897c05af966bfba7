"""Arguments that their tool's schema refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text.schema import violation
from lab.detectors.base import Context, detector
from lab.detectors.surface import arguments_of, calls

if TYPE_CHECKING:
    from lab.records import Reply


@detector(rank=44, weakness=True)
def schema_violation(reply: Reply, context: Context) -> str | None:
    """Readable arguments of an offered tool that break its JSON Schema."""
    for name, text in calls(reply):
        if name not in context.tools:
            continue
        try:
            given = arguments_of(text)
        except ValueError:
            continue  # malformed, which is another detector's word
        broken = violation(given, context.tools[name])
        if broken:
            return f"{name}: {broken}"
    return None
