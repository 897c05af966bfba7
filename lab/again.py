"""What came of questions that were asked again, phase by phase, in words.

One rule: what was cached is said beside what differs: a control that was not cold, a repetition
that found nothing cached, or an eviction that evicted nothing shows less than its name says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.detectors.surface import finished, whole
from lab.planned import asked_again, first_replies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lab.records import ArmHistory, Reply

UNTOLD = "; no cached token was told of"


def told_again(history: ArmHistory) -> str:
    """``asked cold (0 % cached), warm: 0 of 8 differ (97 % cached), ...``; empty for other loads.

    Counted are whole replies to questions whose first reply is whole; a flood is asked but once.
    """
    again, first = asked_again(history.events), first_replies(history)
    followed = {it.of for session, it in again.items() if it.of != session}
    phases: dict[str, list[Reply]] = {}
    for reply in history.replies:
        repeat = again.get(reply.session)
        known = repeat and repeat.of in followed and (reply.session, reply.turn) in first
        if repeat and known and finished(reply):
            phases.setdefault(repeat.phase, []).append(reply)
    told = any(reply.cached_tokens for reply in history.replies)
    firsts = [it.phase for session, it in again.items() if it.of == session]
    parts = [
        name + ("" if name in firsts else _differing(replies, first)) + _cached(replies, told)
        for name, replies in phases.items()
    ]
    return f"asked {', '.join(parts)}{'' if told else UNTOLD}" if parts else ""


def _differing(replies: Sequence[Reply], first: Mapping[tuple[int, int], str]) -> str:
    differ = sum(whole(it) != first[it.session, it.turn] for it in replies)
    return f": {differ} of {len(replies)} differ"


def _cached(replies: Sequence[Reply], told: bool) -> str:
    prompts = sum(it.prompt_tokens for it in replies)
    if not told or not prompts:
        return ""
    return f" ({100 * sum(it.cached_tokens for it in replies) / prompts:.0f} % cached)"
