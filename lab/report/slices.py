"""Corrupt replies by what a reply met: how long it was, how many decoded beside it, where its
prefix lay.

One rule: all arms share their buckets, so that two bars of one name stand for the same. The batch's
size is counted from the replies' own times: how many others were being decoded when a reply's first
token came. Which row of the batch a reply had is not recorded, and nothing here claims it.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from lab.exposure import is_foreign
from lab.joins import REPLY

if TYPE_CHECKING:
    from lab.records import ArmHistory, Finding, Reply

MOST, SMALLEST = 5, 12  # buckets of lengths, and replies in each of all arms together
Key = tuple[int, int]  # session and turn
NOTHING, DEVICE, HOST, CACHED = "nothing cached", "device", "host", "cached, tier not told"


@dataclass(frozen=True)
class Slice:
    """Replies of one arm that are alike in ``what``: ``corrupt`` of ``n``."""

    arm: str
    what: str  # a key of ``DIMENSIONS``
    bucket: str
    n: int
    corrupt: int


def slices(
    histories: Sequence[ArmHistory], findings: Mapping[str, Sequence[Finding]]
) -> list[Slice]:
    """Every slice that has a reply: arm by arm, dimension by dimension, buckets in order."""
    return [
        found
        for what, (buckets, _) in DIMENSIONS.items()
        for found in _of(what, buckets(histories), histories, findings)
    ]


def corrupt_of(found: Iterable[Finding]) -> set[Key]:
    """The replies that a detector found corrupt."""
    return {(it.session, it.turn) for it in found if (it.outcome, it.kind) == ("fail", "corrupt")}


def answered(arm: ArmHistory) -> list[Reply]:
    """The replies that were due and came."""
    return [it for it in arm.replies if it.due and it.status == "ok"]


Buckets = Mapping[str, Mapping[Key, str]]  # of each arm its replies' buckets


def lengths(histories: Sequence[ArmHistory]) -> Buckets:
    """Tokens that came, in as many buckets of like size as the run has replies for."""
    every = sorted(it.completion_tokens for arm in histories for it in answered(arm))
    many = min(MOST, max(1, len(every) // SMALLEST))
    cuts = sorted({every[len(every) * i // many] for i in range(1, many)} - {*every[:1]})
    ends = [*every[:1], *cuts, *(last + 1 for last in every[-1:])]
    names = [_span(low, high - 1) for low, high in pairwise(ends)]
    return {
        arm.name: {
            (it.session, it.turn): names[bisect_right(cuts, it.completion_tokens)]
            for it in answered(arm)
        }
        for arm in histories
    }


def sizes(histories: Sequence[ArmHistory]) -> Buckets:
    """How many were being decoded when its first token came: 0, 1, 2–3, 4–7, and so on."""
    return {
        arm.name: {key: _doubling(others) for key, others in _beside(arm).items()}
        for arm in histories
    }


def tiers(histories: Sequence[ArmHistory]) -> Buckets:
    """Where the cached prefix lay: as the server told it, or as our engine's events do."""
    return {arm.name: _tiers(arm) for arm in histories}


DIMENSIONS: Mapping[str, tuple[Callable[[Sequence[ArmHistory]], Buckets], str]] = {
    "output length": (lengths, "tokens of the reply that came"),
    "batch size at the first token": (sizes, "others decoding"),
    "cache tier": (tiers, "where its cached prefix lay"),
}


def _of(
    what: str,
    buckets: Buckets,
    histories: Sequence[ArmHistory],
    findings: Mapping[str, Sequence[Finding]],
) -> list[Slice]:
    found = []
    for arm in histories:
        mine = buckets[arm.name]
        n = Counter(mine.values())
        hits = corrupt_of(findings.get(arm.name, ()))
        corrupt = Counter(bucket for key, bucket in mine.items() if key in hits)
        found += [Slice(arm.name, what, it, n[it], corrupt[it]) for it in sorted(n, key=_order)]
    return found


def _order(bucket: str) -> tuple[int, str]:
    """Buckets of numbers by their first one, tiers from nothing to the farthest."""
    first = bucket.partition("–")[0].replace(",", "")
    named = (NOTHING, DEVICE, HOST)
    if first.isdigit():
        return int(first), ""
    return named.index(bucket) if bucket in named else len(named), bucket


def _span(low: int, high: int) -> str:
    return f"{low:,}" if low >= high else f"{low:,}–{high:,}"


def _doubling(others: int) -> str:
    low = 1 << (others.bit_length() - 1) if others else 0
    return _span(low, 2 * low - 1)


def _beside(arm: ArmHistory) -> dict[Key, int]:
    """Of each reply whose first token is known, the replies that had theirs and had not ended."""
    begun = sorted(
        (it.first_token_s, it.session, it.turn, it.done_s)
        for it in answered(arm)
        if it.first_token_s is not None and it.done_s is not None
    )
    ends: list[float] = []
    found = {}
    for first, session, turn, done in begun:
        found[session, turn] = len(ends) - bisect_right(ends, first)
        insort(ends, done)
    return found


def _tiers(arm: ArmHistory) -> dict[Key, str]:
    restored, ours = _restored(arm), not is_foreign(arm)  # asked once: it looks at every event
    return {(it.session, it.turn): _tier(it, restored, ours) for it in answered(arm)}


def _tier(reply: Reply, restored: set[int], ours: bool) -> str:
    """The farthest tier that gave it anything."""
    told = [tier for tier, tokens in reply.cached_tiers.items() if tokens]
    if told:
        return sorted(told, key=lambda tier: (tier == DEVICE, tier))[0]
    if not reply.cached_tokens:
        return NOTHING
    number = REPLY.fullmatch(reply.request_id or "")
    if not ours or number is None:
        return CACHED
    return HOST if int(number[1]) in restored else DEVICE


def _restored(arm: ArmHistory) -> set[int]:
    """The requests at whose admission pages came back from the host."""
    found: set[int] = set()
    loaded: dict[object, bool] = {}
    for _, kind, fields in arm.events:
        side = fields.get("side")
        if kind == "restore":
            loaded[side] = True
        elif kind == "admit" and loaded.pop(side, False):
            found.add(int(fields["request"]))
    return found
