"""The tries that failed and were asked again, read from what an arm left.

One rule: it reads, and concludes nothing. The last try of a turn is its ``Reply``, and none of
these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lab.records import ArmHistory

NS = 1_000_000_000


class Try(NamedTuple):
    """One of them. ``took_s`` is from its sending to its end; None where nobody noted it."""

    session: int
    turn: int
    status: str  # transport_error | timeout
    error: str
    took_s: float | None


def failed_tries(history: ArmHistory) -> list[Try]:
    """In the order in which they failed."""
    return [
        Try(
            session=int(fields["session"]),
            turn=int(fields["turn"]),
            status=str(fields["status"]),
            error=str(fields["error"]),
            took_s=(fields["done_ns"] - fields["sent_ns"]) / NS if "done_ns" in fields else None,
        )
        for _, kind, fields in history.events
        if kind == "client_retry"
    ]
