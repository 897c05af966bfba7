"""Whether an arm stopped making progress while work was waiting.

One rule: slow is not wedged. A client that waited in vain proves a wedge only if, from its sending
to its giving up, no reply to anybody finished and the engine did nothing either. An engine that
says itself that it makes no progress is believed where a reply that was due did not finish: where
all of them did, it was wrong, or got on again, and its word is a fault beside the verdict.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any

from lab.detectors.surface import finished
from lab.driver.failures import STALLED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lab.records import ArmHistory, Reply


# The engine's own signs of life. An end that a client's leaving made is none of them.
STEPS = frozenset({"prefill", "decode"})
ALIVE = STEPS | {"arrive", "end"}
NS = 1_000_000_000
MARGIN_NS = 1_000  # a request arrives when it is sent, and ends when it is given up


def wedge(history: ArmHistory) -> str | None:
    """Who waits for what: in the clock's words and the engine's own, or a client that waited while
    nothing finished; None if live.
    """
    missing = any(reply.due and not finished(reply) for reply in history.replies)
    said = (history.stalled, _no_progress(history) if missing else None)
    told = [phrase for phrase in said if phrase is not None]
    return "; ".join(told) if told else _in_vain(history)


def _no_progress(history: ArmHistory) -> str | None:
    """What the engine's watchdog said first after the last step that was followed by its word.

    Later words name those who came later, and wait because of the first.
    """
    told: Mapping[str, Any] | None = None
    for _, kind, fields in reversed(history.events):
        if kind == "no_progress":
            told = fields
        elif told is not None and kind in STEPS:
            break
    if told is None:
        return None
    return f"nothing got on after {told['since_ns'] / NS:.3f} s; {told['waiting']}"


def _in_vain(history: ArmHistory) -> str | None:
    ends = sorted(r.done_s for r in history.replies if r.status == "ok" and r.done_s is not None)
    signs = [at_ns for at_ns, kind, fields in history.events if _alive(kind, fields)]
    signs = sorted([*signs, *(round(at * NS) for r in history.replies for at in _parts(r))])
    for reply in history.replies:
        since_s = _since(reply)
        if since_s is not None and reply.done_s is not None:
            after = bisect_right(ends, since_s)
            until_s = reply.done_s if reply.last_token_s is None else math.inf
            finished = after < len(ends) and ends[after] <= until_s
            if not finished and not _between(signs, since_s, reply.done_s):
                waited = reply.done_s - since_s
                return (
                    f"session {reply.session} waited {waited:.{0 if waited >= 10 else 1}f} s in "
                    f"turn {reply.turn} and nothing finished meanwhile"
                )
    return None


def _since(reply: Reply) -> float | None:
    """From when on a client may have waited in vain, None where it did not: a part of a reply that
    came shows that the server got on, until it stalled; one that finishes anything after that did
    not wedge.
    """
    if reply.status != "timeout":
        return None
    if reply.last_token_s is None:
        return reply.sent_s
    return reply.last_token_s if (reply.error or "").startswith(STALLED) else None


def _parts(reply: Reply) -> list[float]:
    """When the first and the last part of a stream came, which only a streamed reply knows."""
    if reply.last_token_s is None or reply.first_token_s is None:
        return []
    return [reply.first_token_s, reply.last_token_s]


def _alive(kind: str, fields: Mapping[str, Any]) -> bool:
    return kind in ALIVE and fields.get("reason") != "abort"


def _between(signs: Sequence[int], sent_s: float, done_s: float) -> bool:
    """Whether one of the ``signs`` [ns] lies after the sending and before the giving up [s]."""
    first = bisect_right(signs, round(sent_s * NS) + MARGIN_NS)
    return first < bisect_left(signs, round(done_s * NS) - MARGIN_NS)
