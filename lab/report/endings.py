"""Why replies never came, in few lines.

One rule: errors that differ only in their numbers (a room, its seconds) are one reason, told as it
was met first.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lab.records import Reply

MOST = 5
NUMBER = re.compile(r"\d[\d.,]*")


def errors(replies: Iterable[Reply]) -> dict[str, int]:
    """How many replies failed on the way or timed out, by reason: at most ``MOST``, by number."""
    first: dict[str, str] = {}
    times: Counter[str] = Counter()
    for reply in replies:
        if reply.status in ("transport_error", "timeout") and reply.error:
            alike = NUMBER.sub("#", reply.error)
            times[first.setdefault(alike, reply.error)] += 1
    return dict(times.most_common(MOST))
