"""Whether an arm stopped making progress while work was waiting.

One rule: slow is not wedged. A client that waited in vain proves a wedge only if, from its sending
to its giving up, no reply to anybody finished.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.records import ArmHistory


def wedge(history: ArmHistory) -> str | None:
    """One phrase: the clock's own message, or who waited while nothing finished; None if live."""
    if history.stalled is not None:
        return history.stalled
    ends = sorted(r.done_s for r in history.replies if r.status == "ok" and r.done_s is not None)
    for reply in history.replies:
        if reply.status == "timeout" and reply.done_s is not None:
            after = bisect_right(ends, reply.sent_s)
            if after == len(ends) or ends[after] > reply.done_s:
                waited = reply.done_s - reply.sent_s
                return (
                    f"session {reply.session} waited {waited:.0f} s in turn {reply.turn} and "
                    "nothing finished meanwhile"
                )
    return None
