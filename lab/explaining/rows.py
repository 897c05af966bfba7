"""The row that was wrong, in sentences: its place, its writer, its owner, the edge that is missing.

One rule: of a chain the reader's event says what was read, the root's who made it wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.explaining.damage import ROWS
from lab.explaining.reads import about_the_read
from lab.explaining.writers import clocked, seconds, writer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lab.explaining.damage import Damage
    from lab.explaining.explanation import Explanation

PLACES: Mapping[str, str] = {
    "pool": "pool {}",
    "pools": "pools {}",
    "layer": "layer {}",
    "page": "page {}",
    "host_page": "host page {}",
    "slot": "slot {} of the pool",
    "position": "token {} of the reader's context",
    "state": "state {}",
    "generation": "generation {}",
    "rows": "{} rows lost",
}
JOINED: Mapping[str, str] = {
    "own": "No event says which step read it; the damage names this reply's own request.",
    "prefix": "The damage names an earlier turn of this session: the rows that this turn left, or "
    "computed from it, are the prefix that this reply goes on from.",
    "restored": "No event says which step read it; this reply, or a turn before it, took a prefix "
    "back from the host, and this is a wrong copy that was made before.",
    "arm": "Nothing says that this reply met it: it is the first damage of the arm before the "
    "wrong token.",
}


def what_it_read(it: Explanation) -> list[str]:
    """The rows of the reader's event, or how the damage is joined to the reply."""
    effect = it.effect
    assert effect is not None
    if effect.role not in ROWS:
        return []
    reader = effect.text("reader") or (f"request {it.request}" if it.how == "read" else "")
    what = f"{reader} read a wrong row" if reader and effect.role == "read" else "damaged row"
    token = (
        f", for token {effect.number('output')} of its reply" if "output" in effect.fields else ""
    )
    told = [f"{what}{token}: {place(effect)}."]
    told.append(f"The ledger calls it {effect.name}, seen at {seconds(effect.at_ns)}.")
    many = effect.number("n")
    if many > 1:
        told.append(f"It is the first of {many:,} that the event counts.")
    if it.how != "read":
        told.append(JOINED[it.how])
    return [*told, *about_the_read(it)]


def place(damage: Damage) -> str:
    """Where the row lies: ``pool index_k, layer 2, page 245, ...``."""
    told = [form.format(damage.fields[key]) for key, form in PLACES.items() if key in damage.fields]
    return ", ".join(told) or "its place is not recorded"


def who_wrote(it: Explanation) -> list[str]:
    """The last writer by the reader's event; and the root's, where that says another thing."""
    assert it.effect is not None and it.root is not None
    first, root = writer(it.effect), writer(it.root)
    again = first.startswith(writer(it.root, when=False))
    told = [first] if root and again else list(dict.fromkeys([first, root]))
    sentences = [f"{by}." for by in told if by]
    if it.effect.role not in ROWS:
        return []
    return sentences or ["unknown: no event names the writer."]


def whose(it: Explanation) -> list[str]:
    """Whose the row was when it was read, whose when it was written, and when it was freed."""
    assert it.effect is not None and it.root is not None
    if it.effect.role not in ROWS:
        return []
    now, then = _owner(it.effect), _owner(it.root)
    told = [f"{now} held the page when it was seen."] if now else []
    if then and then == now and it.root is not it.effect:
        told = [f"{now} held the page, when it was damaged and when it was read."]
    elif then and it.root is not it.effect:
        told.append(f"{then} held what was damaged first.")
    if by := it.root.number("writer_request"):
        told.append(f"The writer worked for request {by}, which {_had(by, now or then)}.")
    elif by := it.root.number("writer_room"):
        told.append(f"The writer worked for room {by}, whose request {_had(by, now or then)}.")
    freed = clocked(it.effect.text("freed") or it.root.text("freed"))
    told.append(
        f"The page was last {freed}." if freed else "Nothing says that it was freed before."
    )
    return told


def missing_edge(it: Explanation) -> list[str]:
    """The ledger's own words, and the edge that each question keeps."""
    assert it.chain is not None
    told = [f"{clocked(edge)}." for link in it.chain.links if (edge := link.text("edge"))]
    alone = len(it.questions) == 1
    kept = [
        f"{q.edge[:1].upper()}{q.edge[1:]}." if alone else f"{q.seam}: {q.edge}."
        for q in it.questions
    ]
    return list(dict.fromkeys([*told, *kept])) or ["unknown: no edge is recorded."]


def _owner(damage: Damage) -> str:
    owner = damage.text("owner") or damage.text("victim")
    return "the cache" if owner == "cache" else owner


def _had(request: int, owner: str) -> str:
    return "owned it" if owner == f"request {request}" else "did not own it"
