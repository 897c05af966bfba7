"""The same request in the same configuration, answered otherwise.

Noise of a real server's batching is this, and no corruption: only a wrong text is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.detectors.base import Context, Kind, detector
from lab.detectors.surface import first_difference, whole

if TYPE_CHECKING:
    from lab.records import Reply


@detector(rank=62, kind=Kind.NONDETERMINISTIC)
def nondeterminism(reply: Reply, context: Context) -> str | None:
    """A text that differs from the one in an arm of equal configuration and seed, or from the reply
    to the same question asked before.
    """
    other = context.twin.get((reply.session, reply.turn))
    if other is None or other == whole(reply):
        return None
    at = first_difference(other, whole(reply))
    again = context.asked_again.get(reply.session)
    if again is None:
        return f"differs from its twin at character {at}"
    return f"asked {again.phase}, differs from session {again.of} at character {at}"
