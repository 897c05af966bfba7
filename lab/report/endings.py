"""Why tries failed, in few lines: those that were asked again, and the last ones of replies.

One rule: errors that differ only in their numbers (a room, its seconds) are one reason, told as it
was met first.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from lab.tries import failed_tries

if TYPE_CHECKING:
    from lab.records import ArmHistory

MOST = 5
NUMBER = re.compile(r"\d[\d.,]*")


def errors(history: ArmHistory) -> dict[str, int]:
    """How many tries failed on the way or timed out, by reason: at most ``MOST``, by number."""
    first: dict[str, str] = {}
    times: Counter[str] = Counter()
    for status, error in [
        *((it.status, it.error) for it in failed_tries(history)),
        *((it.status, it.error) for it in history.replies),
    ]:
        if status in ("transport_error", "timeout") and error:
            alike = NUMBER.sub("#", error)
            times[first.setdefault(alike, error)] += 1
    return dict(times.most_common(MOST))
