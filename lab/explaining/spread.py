"""How often one kind of damage came in an arm, and who met it. One rule: counted by what is stored,
never guessed; who reads a page after it was handed on met another row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.explaining.damage import Damage
    from lab.explaining.evidence import Evidence


class Spread(NamedTuple):
    """Of the root's kind: events and occurrences in the whole arm; other requests that read the
    same page afterwards, not handed on since, and the other sessions of those.
    """

    events: int
    occurrences: int
    readers: int
    sessions: int


def spread_of(links: Sequence[Damage], request: int, evidence: Evidence) -> Spread:
    """What the last of a chain's links did besides what became of ``request``."""
    root = links[-1]
    told = (it.number("generation") for it in reversed(links) if _same_page(it, root, 0))
    generation = next((number for number in told if number), 0)
    alike = [it for it in evidence.damages if it.name == root.name]
    readers = {
        it.number("request")
        for it in evidence.damages
        if it.role == "read" and _after(it, root) and _same_page(it, root, generation)
    } - {0, request}
    turn = evidence.turns.get(request)
    sessions = {evidence.turns[it].session for it in readers if it in evidence.turns}
    return Spread(
        events=len(alike),
        occurrences=sum(it.number("n") or 1 for it in alike),
        readers=len(readers),
        sessions=len(sessions - ({turn.session} if turn else set())),
    )


def _after(read: Damage, root: Damage) -> bool:
    return read.order > root.order and read.at_ns >= root.at_ns


def _same_page(read: Damage, root: Damage, generation: int) -> bool:
    """Whether both are of a page, in that generation where it is known."""
    if read.text("side") != root.text("side"):
        return False
    if generation and read.number("generation") not in (0, generation):
        return False
    page = root.number("page")
    pools = {read.text("pool"), root.text("pool")} - {""}
    return page > 0 and read.number("page") == page and len(pools) < 2
