"""Why tries failed, in few lines: those that were asked again, and the last ones of replies.

One rule: errors that differ only in their numbers (a room, its seconds) are one reason, and no
single room's number stands for all.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from lab.alike import alike
from lab.tries import failed_tries

if TYPE_CHECKING:
    from lab.records import ArmHistory

MOST = 5


def errors(history: ArmHistory, most: int | None = MOST) -> dict[str, int]:
    """How many tries failed on the way or timed out, by reason: at most ``most``, by number."""
    ended = [
        *((it.status, it.error) for it in failed_tries(history)),
        *((it.status, it.error) for it in history.replies),
    ]
    ill = [error for status, error in ended if status in ("transport_error", "timeout") and error]
    return dict(islice(alike(ill).items(), most))
