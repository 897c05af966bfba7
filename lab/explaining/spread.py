"""How far one kind of damage went in an arm. One rule: counted by what is stored, never guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lab.explaining.damage import Damage
    from lab.explaining.evidence import Evidence


class Spread(NamedTuple):
    """Of the root's kind: events and occurrences in the arm, other requests that read the same
    page afterwards, and the other sessions of those.
    """

    events: int
    occurrences: int
    readers: int
    sessions: int


def spread_of(root: Damage, request: int, evidence: Evidence) -> Spread:
    """What ``root`` did besides: ``request`` is the one that is being explained."""
    alike = [it for it in evidence.damages if it.name == root.name]
    readers = {
        it.number("request")
        for it in evidence.damages
        if it.role == "read" and it.order > root.order and _same_page(it, root)
    } - {0, request}
    turn = evidence.turns.get(request)
    sessions = {evidence.turns[it].session for it in readers if it in evidence.turns}
    return Spread(
        events=len(alike),
        occurrences=sum(it.number("n") or 1 for it in alike),
        readers=len(readers),
        sessions=len(sessions - ({turn.session} if turn else set())),
    )


def _same_page(read: Damage, root: Damage) -> bool:
    page = root.number("page")
    pools = {read.text("pool"), root.text("pool")} - {""}
    return page > 0 and read.number("page") == page and len(pools) < 2
