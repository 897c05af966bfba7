"""Writes that land after their room lost its pages. One rule: what counts is what they destroy.

- ``late_write_into_owned_page``: a write landed in a page that somebody else holds by now, on rows
  that its new owner had written already; a page that never was the room's is judged alike;
- ``late_writes_harmless`` (exposure): pages and request slots that a late write reached, and that
  were free or still unwritten.

Rows are tokens. A piece of kind ``kv`` reaches c4, index-K and c128: of an owner that has written n
rows it destroys whole c4 entries only, n - n % 4 rows. A piece of kind ``state`` reaches the
window's latents and the rings of a page: it destroys what a state piece brought there, and what
steps wrote.

A request's c128 states lie in its slot, of which nobody counts generations: a slot is taken for a
room's as long as the last page of its prompt is. Not watched: a slot whose request was never a
room's, or left that last page to the cache; metadata slots (they carry a tag of their own); and
bytes that strides of unequal layouts carry out of their page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from engine.config import C4_RATIO, C128_RATIO, PAGE_TOKENS
from engine.disagg.pieces import EVERY_CHUNK, LAST_CHUNK_PAGED
from engine.pools.device import REQUEST_ADDRESSED
from engine.sched.limits import pages_of
from engine.shadow.room_tags import wire_write

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.disagg.mail import TransferInfo
    from engine.disagg.pieces import Piece
    from engine.events import EventLog, Field
    from engine.shadow.pages import Owners, PageWatch
    from engine.shadow.room_tags import Tags

RING = C128_RATIO  # rows of a request's c128 states


class Landed(NamedTuple):
    """Rows [0, ``rows``) of a page came by a piece while it was of this generation."""

    take: int
    rows: int


class Slot(NamedTuple):
    """Whose states came to a request slot, and the last page of its prompt, as it was given."""

    room: int
    page: int
    take: int


class Hit(NamedTuple):
    """A page (or a request slot) that a late write reached, and the rows destroyed there."""

    victim: str
    page: int
    rows: int


class LateWrites:
    """What pieces brought where, and to whom."""

    def __init__(
        self,
        events: EventLog,
        owners: Owners,
        watch: PageWatch,
        room_of: Callable[[str], int],
        tags: Tags,
    ) -> None:
        self._events, self._owners, self._tags = events, owners, tags
        self._watch, self._room_of = watch, room_of
        self._chunks: dict[int, Landed] = {}
        self._states: dict[int, Landed] = {}
        self._slots: dict[int, Slot] = {}
        events.count("late_writes_harmless", 0)

    def landed(self, room: int, piece: Piece, info: TransferInfo, tokens: int) -> None:
        """The bytes of a piece are there; ``tokens`` are the prompt's."""
        if piece.kind == "aux" or not piece.writes:
            return
        chunk = piece.kind == "kv"
        at = {page: index for index, page in enumerate(info.pages)}
        pages = piece.writes[0].dst  # a piece's first region is addressed by page
        given = dict(zip(info.pages, info.takes, strict=True))
        late = [page for page in pages if not self._holds(page, given.get(page))]
        for page in pages:
            if page not in late:
                self._mark(chunk, page, min(PAGE_TOKENS, tokens - at[page] * PAGE_TOKENS))
        hits = [self._hit(chunk, page) for page in late]
        self._judge(room, piece.kind, EVERY_CHUNK if chunk else LAST_CHUNK_PAGED, hits)
        if not chunk:
            last = pages_of(tokens) - 1
            self._slot(info.req_slot, Slot(room, info.pages[last], info.takes[last]))

    def _holds(self, page: int, take: int | None) -> bool:
        """Whether a page is still held as generation ``take``; None: it was never the room's."""
        held = self._owners.owner_of(page) is not None
        return held and self._owners.generation_of(page) == take

    def _mark(self, chunk: bool, page: int, rows: int) -> None:
        """A page of the room's own has its rows now."""
        landed = Landed(self._owners.generation_of(page), rows)
        if chunk:
            self._watch.landed(page, rows)
            self._chunks[page] = landed
        else:
            self._states[page] = landed

    def _hit(self, chunk: bool, page: int) -> Hit:
        """What a late write destroyed of a page; no rows where nobody holds it."""
        victim = self._owners.owner_of(page)
        if victim is None:
            return Hit("", page, 0)
        written = self._watch.rows_written(page)
        if chunk:
            return Hit(victim, page, written - written % C4_RATIO)
        stepped = max(0, written - self._rows(self._chunks, page))
        return Hit(victim, page, self._rows(self._states, page) + stepped)

    def _rows(self, landings: dict[int, Landed], page: int) -> int:
        """Rows that a piece brought to the page's present owner."""
        landed = landings.get(page)
        mine = landed is not None and landed.take == self._owners.generation_of(page)
        return landed.rows if landed and mine else 0

    def _slot(self, slot: int, mine: Slot) -> None:
        """The c128 states of a room: its own slot's, or whoever's it is now."""
        if self._holds(mine.page, mine.take):
            self._slots[slot] = mine
            return
        other = self._slots.get(slot)
        lost = other is not None and self._holds(other.page, other.take)
        victim = (self._owners.owner_of(other.page) or "") if other and lost else ""
        hit = Hit(victim, slot, RING if lost else 0)
        self._judge(mine.room, "state", (REQUEST_ADDRESSED,), [hit])

    def _judge(self, room: int, kind: str, pools: Sequence[str], hits: Sequence[Hit]) -> None:
        """One violation for each victim that lost rows, which names the first page it lost.

        Of ``c128_state`` that is the request slot.
        """
        lost = [hit for hit in hits if hit.rows]
        self._events.count("late_writes_harmless", len(hits) - len(lost))
        for victim in dict.fromkeys(hit.victim for hit in lost):
            its = [hit for hit in lost if hit.victim == victim]
            known = self._known(room, pools[0], its[0].page)
            self._events.violation(
                "late_write_into_owned_page",
                n=len(its),
                victim=victim,
                victim_room=self._room_of(victim),
                piece=kind,
                pools=", ".join(pools),
                page=its[0].page,
                rows=sum(hit.rows for hit in its),
                **known,
            )

    def _known(self, room: int, pool: str, page: int) -> dict[str, Field]:
        """The writer of a hit, and the generation of its page; a request slot has none."""
        writer = wire_write(room) | self._tags.writer(pool, page)
        paged = pool != REQUEST_ADDRESSED
        return writer | ({"generation": self._owners.generation_of(page)} if paged else {})
