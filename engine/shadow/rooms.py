"""What becomes of a room's bytes, as a pair tells it. One rule: it looks at pages, not at states.

See ``room_digests`` for bytes that arrive otherwise than they left, ``late_writes`` for bytes that
arrive at somebody else's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.shadow.late_writes import LateWrites
from engine.shadow.room_digests import RoomDigests

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.disagg.mail import TransferInfo
    from engine.disagg.pieces import Piece
    from engine.disagg.records import RoomDigest
    from engine.events import EventLog
    from engine.pools.device import DevicePools
    from engine.shadow.pages import Owners, PageWatch
    from engine.shadow.room_tags import Tags
    from kernels.ops import PageDigest


class RoomWatch:
    """Watches one rank's wire. ``events``, ``owners`` and ``watch`` are the decode side's.

    ``room_of`` gives the room of an owner (``request 7``), 0 for one that has none; ``tags`` know
    who wrote a page last.
    """

    def __init__(
        self,
        src: DevicePools,
        dst: DevicePools,
        digest: PageDigest,
        events: EventLog,
        owners: Owners,
        watch: PageWatch,
        room_of: Callable[[str], int],
        tags: Tags,
    ) -> None:
        self._digests = RoomDigests(src, dst, digest, events, tags)
        self._late = LateWrites(events, owners, watch, room_of, tags)

    @property
    def digests(self) -> list[RoomDigest]:
        """All that was digested so far, room by room."""
        return self._digests.digests()

    def stored(self, room: int, start_page: int, src_pages: Sequence[int]) -> None:
        """Prefill pages of positions ``start_page``, + 1, ... are sent now."""
        positions = range(start_page, start_page + len(src_pages))
        self._digests.stored(room, positions, src_pages)

    def stored_state(
        self, room: int, positions: Sequence[int], src_pages: Sequence[int], src_slot: int
    ) -> None:
        """Window, rings and c128 states are sent now: pages of ``positions`` and a request slot."""
        self._digests.stored_state(room, positions, src_pages, src_slot)

    def landed(self, room: int, piece: Piece, info: TransferInfo, tokens: int) -> None:
        """A piece of a prompt of ``tokens`` has moved its bytes, whoever holds the pages now."""
        self._late.landed(room, piece, info, tokens)

    def committed(self, room: int, info: TransferInfo, tokens: int) -> None:
        """The decode side takes a room of ``tokens`` prompt tokens; no step has written there."""
        self._digests.committed(room, info, tokens)
