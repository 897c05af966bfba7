"""Cause before effect: from the damage that a reply met back to what made it.

One rule: a link is one damage behind another, not later and on the same bytes: the same page, host
page or room, the very step that wrote last, or a page that the same request was to have. What
shares but the number of a copy (of many pages), or a pool, is linked and said not to be sure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lab.explaining.damage import ROWS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.explaining.damage import Damage

LONGEST = 3  # a read, the copy that brought the row, and what spoilt the copy
SAME_STEP, SAME_SLOT, SAME_PAGE, SAME_BACKUP, SAME_LOAD, SAME_REQUEST, SAME_POOL = (
    1 << bit for bit in range(6, -1, -1)
)
SURE = SAME_STEP | SAME_SLOT | SAME_PAGE | SAME_REQUEST  # of a score any of these
COPIES = ("load", "backup")
COPY = re.compile(r"\b(?:load|backup) \d+")  # an operation by its number
ALIASED = {"row_shared_by_two_slots": "lost_slot"}
HOST_PAGE = re.compile(r"\bhost page (\d+)")
# Somebody else was given a page that a request still uses: its own steps write there in good faith.
MISPLACED = ("load_wrote_page_in_use", "page_changed_between_match_and_read")


class Chain(NamedTuple):
    """Damage from effect to root; ``sure`` is whether every link is on the same bytes."""

    links: tuple[Damage, ...]
    sure: bool


def chain_of(effect: Damage, damages: Sequence[Damage]) -> Chain:
    """The damage that led to ``effect``, and itself."""
    links, sure = [effect], True
    while len(links) < LONGEST and links[-1].role in ROWS:
        known = {link.name for link in links}
        scored = [
            (score, it.order, it)
            for it in damages
            if it.name not in known and (score := _alike(links[-1], it))
        ]
        if not scored:
            break
        score, _, cause = max(scored, key=lambda each: each[:2])
        sure = sure and bool(score & SURE)
        links.append(cause)
    return Chain(tuple(links), sure)


def _alike(effect: Damage, cause: Damage) -> int:
    """How surely ``cause`` is behind ``effect``; 0: it is not."""
    if cause.at_ns > effect.at_ns or effect.text("side") != cause.text("side"):
        return 0
    if cause.name not in MISPLACED and (effect.role == "write" or cause.role == "read"):
        return 0
    if effect.role == "write" and effect.name != "write_by_non_owner":
        return 0
    pools = {effect.text("pool"), cause.text("pool")} - {""}
    if len(pools) > 1:
        return 0
    score = SAME_STEP * _same_step(effect, cause)
    score += SAME_SLOT * _same(effect, cause, "slot", ALIASED.get(cause.name, "slot"))
    score += SAME_PAGE * _same_place(effect, cause)
    score += SAME_BACKUP * _same_copy(effect, cause, "backup")
    score += SAME_LOAD * _same_copy(effect, cause, "load")
    score += SAME_REQUEST * _same_request(effect, cause)
    return score or SAME_POOL * _same_pool(effect, cause)


def _same_pool(effect: Damage, cause: Damage) -> bool:
    """Whether a copy of the pool, or rows of it that share bytes, may be behind a read of it."""
    if effect.role != "read" or not effect.text("pool"):
        return False
    kind = effect.text("writer_kind")
    if cause.name in ALIASED:
        return effect.text("pool") == "index_k" and kind in ("prefill", "decode")
    return cause.role == "copy" and kind == "load"


def _same_step(effect: Damage, cause: Damage) -> bool:
    """Whether the cause is what wrote last: padding of that step."""
    padded = effect.text("writer_kind") == "padding"
    step = cause.number("step") or cause.number("writer_step")
    return padded and step > 0 and step == effect.number("writer_step")


def _same_copy(effect: Damage, cause: Damage, kind: str) -> bool:
    """Whether a copy of that kind that brought the row is the cause's own, or one that it was to
    wait for: ``load 4 of host page 3, which backup 1 filled`` names both.
    """
    if effect.text("writer_kind") not in COPIES or _handed_on(effect, cause):
        return False
    brought = COPY.findall(effect.text("writer"))
    told = COPY.findall(" ".join(cause.text(key) for key in ("writer", "reader", "edge")))
    return any(copy in told for copy in brought if copy.startswith(kind))


def _same_request(effect: Damage, cause: Damage) -> bool:
    """Whether the cause names the reader, or of a write its writer."""
    known = effect.number("writer_request" if effect.role == "write" else "request")
    return known in cause.hurt


def _same_place(effect: Damage, cause: Damage) -> bool:
    """Whether both are of a page, device's or host's, or of the room that wrote there."""
    if _unlike_generation(effect, cause) and not _same(effect, cause, "host_page", "host_page"):
        return False
    return (
        _same(effect, cause, "page", "page")
        or _host_page(effect) == _host_page(cause) != ""
        or _same(effect, cause, "writer_room", "writer_room")
        or _same(effect, cause, "room", "writer_room")
    )


def _handed_on(effect: Damage, cause: Damage) -> bool:
    """Whether the cause is of the same page, as it was before it was handed on."""
    return _same(effect, cause, "page", "page") and _unlike_generation(effect, cause)


def _unlike_generation(effect: Damage, cause: Damage) -> bool:
    """Whether both tell a generation, and not the same one."""
    one, other = (damage.number("generation") for damage in (effect, cause))
    return bool(one and other) and one != other


def _host_page(damage: Damage) -> str:
    """The host page that a row came from, by its field or by the writer's sentence."""
    named = HOST_PAGE.search(damage.text("writer")) if "host_page" not in damage.fields else None
    return named[1] if named else damage.text("host_page")


def _same(effect: Damage, cause: Damage, one: str, other: str) -> bool:
    return effect.number(one) > 0 and effect.number(one) == cause.number(other)
