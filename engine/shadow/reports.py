"""How the shadow memory says what it found: one flat event a finding, alike for all who look.

One rule: a field that means nothing is left out, and everything that is known of the page and of
the last writer is said.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.events import Field
    from engine.shadow.book import PageBook, Unordered
    from engine.shadow.memory import ShadowMemory

CLASH, UNORDERED = "two_writers_in_flight", "unordered_access"

COPIES = ("backup", "load", "transfer")


class Writer(NamedTuple):
    """Who wrote last: an operation by number (0: nobody), and its lane (-1: it has none)."""

    op: int
    lane: int = -1


def report(
    shadow: ShadowMemory,
    name: str,
    page: int,
    n: int = 1,
    writer: Writer | None = None,
    book: PageBook | None = None,
    **more: Field,
) -> None:
    """Tell of ``n`` bad rows or pages, of which the first lies on ``page`` (-1: on none).

    ``more`` are the fields that the caller knows: pool, layer, slot, position, reader, edge, ...
    ``writer`` None: who wrote last means nothing here. ``book`` is that of the pages, if they are
    not the device's: host pages have no owner here.
    """
    fields = {} if page < 0 else _page(shadow, page, book)
    if writer is not None:
        fields |= written_by(shadow, writer, page, book)
    shadow.events.violation(name, n=n, **fields | more)


def written_by(
    shadow: ShadowMemory, writer: Writer, page: int = -1, book: PageBook | None = None
) -> dict[str, Field]:
    """The fields of a last writer of rows of ``page`` (-1: of none, or several)."""
    op = shadow.log[writer.op]
    padding = op.kind == "decode" and writer.lane >= len(op.lanes)
    fields: dict[str, Field] = {
        "writer": shadow.log.said(writer.op, writer.lane),
        "writer_kind": "padding" if padding else op.kind,
    }
    known = {
        "writer_request": 0 if padding else shadow.log.request_of(writer.op, writer.lane),
        "writer_room": op.room,
        "writer_step": op.step,
    }
    fields |= {key: value for key, value in known.items() if value}
    if writer.lane >= 0:
        fields["writer_lane"] = writer.lane
    if writer.op:
        fields["writer_at_us"] = op.at_us
    if edge := shadow.common.missing.at(writer.op, book or shadow.book, page):
        fields["edge"] = edge
    return fields


def apart(shadow: ShadowMemory, one: int, other: int, lane: int = -1) -> str:
    """Two writers that nothing orders, as an edge; ``lane`` is the first one's."""
    said = shadow.log.said
    return f"{said(one, lane)} and {said(other)} did not wait for each other"


def unordered(
    shadow: ShadowMemory, found: Sequence[Unordered], book: PageBook | None = None, **more: Field
) -> None:
    """Tell of accesses that nothing orders, one event for each pair of operations, and of a page
    once for all steps of a stream.

    Whoever meets one of the two there later, as a last writer, is told what was not waited for.
    """
    pairs: dict[tuple[int, int], dict[int, None]] = {}  # the pages of each, once, in order
    for each in found:
        pairs.setdefault((each.earlier, each.later), {})[each.page] = None
    for (earlier, later), touched in pairs.items():
        edge = f"{shadow.log.said(later)} did not wait for {shadow.log.said(earlier)}"
        for op, page in product((earlier, later), touched):
            copies = shadow.log[op].kind in COPIES
            shadow.common.missing.add(op, book or shadow.book, page, edge, copies)
        who = earlier, _party(shadow, later)
        pages = [page for page in touched if (book or shadow.book).untold(UNORDERED, page, *who)]
        if not pages:
            continue
        at = Writer(earlier)
        report(shadow, UNORDERED, pages[0], len(pages), at, book, edge=edge, **more)


def _party(shadow: ShadowMemory, op: int) -> int:
    """Who an operation is, next to others: the steps of a stream are one."""
    done = shadow.log[op]
    return -1 - done.stream if done.kind in ("prefill", "decode") else op


def _page(shadow: ShadowMemory, page: int, book: PageBook | None) -> dict[str, Field]:
    at = book or shadow.book
    fields: dict[str, Field] = {"page": page, "state": at.state(page, shadow.running)}
    fields |= {"generation": int(at.generation[page]), "freed": at.last_freed(page)}
    if book is None:
        fields["owner"] = shadow.owners.owner_of(page) or "nobody"
    return fields
