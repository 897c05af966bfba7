"""What came of questions that were asked again, phase by phase, in words.

One rule: what was cached is said beside what differs: a repetition that found nothing cached, or an
eviction that evicted nothing, shows less than its name says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.detectors.surface import finished, whole
from lab.planned import asked_again, first_replies

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.records import ArmHistory, Reply


def told_again(history: ArmHistory) -> str:
    """``asked again: warm 0 of 8 differ (97 % cached), evicted 1 of 8 (2 % cached)``; else empty.

    Counted are replies that are whole, where the first reply to the same question is.
    """
    again, first = asked_again(history.events), first_replies(history)
    phases: dict[str, list[Reply]] = {}
    for reply in history.replies:
        repeat = again.get(reply.session)
        place = reply.session, reply.turn
        if repeat and repeat.of != reply.session and place in first and finished(reply):
            phases.setdefault(repeat.phase, []).append(reply)
    parts = [_phase(name, replies, first) for name, replies in phases.items()]
    return f"asked again: {', '.join(parts)}" if parts else ""


def _phase(name: str, replies: Sequence[Reply], first: dict[tuple[int, int], str]) -> str:
    differ = sum(whole(it) != first[it.session, it.turn] for it in replies)
    prompts, cached = (
        sum(it.prompt_tokens for it in replies),
        sum(it.cached_tokens for it in replies),
    )
    part = f" ({100 * cached / prompts:.0f} % cached)" if prompts else ""
    return f"{name} {differ} of {len(replies)} differ{part}"
