"""The client waited as long as it was told to, and no end came."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.detectors.base import Context, Kind, detector

if TYPE_CHECKING:
    from lab.records import Reply


@detector(rank=72, kind=Kind.UNFINISHED)
def timed_out(reply: Reply, context: Context) -> str | None:
    """Sent, and never answered in time."""
    return (reply.error or "no end in time") if reply.status == "timeout" else None
