"""The request failed on the way: an HTTP error, a cut or malformed stream. Never a corruption."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.detectors.base import Context, Kind, detector

if TYPE_CHECKING:
    from lab.records import Reply


@detector(rank=70, kind=Kind.UNFINISHED)
def transport_error(reply: Reply, context: Context) -> str | None:
    """The exchange did not end as an exchange must."""
    return (reply.error or "no reason known") if reply.status == "transport_error" else None
