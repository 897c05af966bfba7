"""What a join is worth. One rule: it is set beside what the arm's right replies show.

A row of index-K that is wrong does harm only where it changes what is selected, so most replies
that read one may be right, and damage would be joined to a wrong token that has another cause.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from lab.explaining.evidence import JOINED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.explaining.damage import Damage
    from lab.explaining.evidence import Evidence
    from lab.records import ArmHistory, Finding, Reply


class Base(NamedTuple):
    """Replies of the arm that read a row wrong in the same way, and how many of them are right."""

    replies: int
    right: int


class Chance(NamedTuple):
    """Right replies asked at the wrong tokens' places, and in what shares damage is joined there:
    by any of ``JOINED``, and by a read alone, which is the strongest.
    """

    replies: int
    joined: float
    read: float


def right_replies(history: ArmHistory, findings: Sequence[Finding]) -> list[Reply]:
    """The replies that came whole, and that no judge failed."""
    failed = {(it.session, it.turn) for it in findings if it.outcome == "fail"}
    return [
        it for it in history.replies if it.status == "ok" and (it.session, it.turn) not in failed
    ]


def base_of(effect: Damage, evidence: Evidence, right: Sequence[Reply]) -> Base:
    """Who else read a row of the same pool that was wrong by the same name."""
    readers = {
        request
        for it in evidence.damages
        if it.name == effect.name and it.text("pool") == effect.text("pool")
        for request in it.hurt
    }
    known = {evidence.request_of(it) for it in evidence.history.replies} & readers - {0}
    return Base(len(known), len(known & {evidence.request_of(it) for it in right}))


def chance(tokens: Sequence[int], evidence: Evidence, right: Sequence[Reply]) -> Chance | None:
    """In what share damage would be joined to a right reply, were the wrong tokens its own.

    Each of ``tokens`` is taken in every right reply that has it; None where no reply has.
    """
    asked = [it for it in right if it.completion_tokens > min(tokens, default=0)]
    if not tokens or not asked:
        return None
    return Chance(
        len(asked), *(_share(tokens, asked, evidence, how) for how in (JOINED, JOINED[:1]))
    )


def _share(
    tokens: Sequence[int], right: Sequence[Reply], evidence: Evidence, how: Sequence[str]
) -> float:
    """The mean over the tokens of the share of replies to which damage is joined so."""
    began = [(_onset(it, evidence, how), it.completion_tokens) for it in right]
    shares = [
        sum(onset <= token for onset in long) / len(long)
        for token in tokens
        if (long := [onset for onset, many in began if many > token])
    ]
    return sum(shares) / len(shares)


def _onset(reply: Reply, evidence: Evidence, how: Sequence[str]) -> int:
    """The first token of a reply to which damage is joined so; its length where to none."""

    def met(at: int) -> bool:
        found = evidence.joined(reply, at)
        return found is not None and found.how in how

    return bisect_left(range(reply.completion_tokens), True, key=met)
