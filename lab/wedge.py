"""Whether an arm stopped making progress while work was waiting.

One rule: slow is not wedged. A client that waited in vain proves a wedge only if, from its sending
to its giving up, no reply to anybody finished and the engine did nothing either.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lab.records import ArmHistory


# The engine's own signs of life. An end that a client's leaving made is none of them.
ALIVE = frozenset({"prefill", "decode", "arrive", "end"})
NS = 1_000_000_000
MARGIN_NS = 1_000  # a request arrives when it is sent, and ends when it is given up


def wedge(history: ArmHistory) -> str | None:
    """One phrase: the clock's own message, or who waited while nothing finished; None if live."""
    if history.stalled is not None:
        return history.stalled
    ends = sorted(r.done_s for r in history.replies if r.status == "ok" and r.done_s is not None)
    signs = sorted(at_ns for at_ns, kind, fields in history.events if _alive(kind, fields))
    for reply in history.replies:
        if reply.status == "timeout" and reply.done_s is not None:
            after = bisect_right(ends, reply.sent_s)
            finished = after < len(ends) and ends[after] <= reply.done_s
            if not finished and not _between(signs, reply.sent_s, reply.done_s):
                waited = reply.done_s - reply.sent_s
                return (
                    f"session {reply.session} waited {waited:.0f} s in turn {reply.turn} and "
                    "nothing finished meanwhile"
                )
    return None


def _alive(kind: str, fields: Mapping[str, Any]) -> bool:
    return kind in ALIVE and fields.get("reason") != "abort"


def _between(signs: Sequence[int], sent_s: float, done_s: float) -> bool:
    """Whether one of the ``signs`` [ns] lies after the sending and before the giving up [s]."""
    first = bisect_right(signs, round(sent_s * NS) + MARGIN_NS)
    return first < bisect_left(signs, round(done_s * NS) - MARGIN_NS)
