"""A call to a tool that was never offered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.surface import calls

if TYPE_CHECKING:
    from lab.records import Reply


@detector(rank=40, weakness=True)
def unknown_tool(reply: Reply, context: Context) -> str | None:
    """A call's name is none of the request's tools."""
    for name, _ in calls(reply):
        if context.tools and name not in context.tools:
            return f"calls {name[:60]!r}"
    return None
