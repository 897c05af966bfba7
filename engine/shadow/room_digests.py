"""Whether a room's bytes arrived as they left. One rule: a position is held against the same one.

The prefill's page rows are digested when they are sent, the decode side's when it takes the room:
before its first step writes there. In between nobody has business in either, so whole pages are
compared, the rows behind the prompt's end among them; padding is no pool's data and is not read.

- ``room_bytes_differ``: a page row of a position is not what was sent of it, or nothing was.

On a GPU digests stay there; they are read when a room is taken, once for all its pools.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

from engine.disagg.pieces import EVERY_CHUNK, LAST_CHUNK_PAGED, window_pages
from engine.disagg.records import RoomDigest
from engine.pools.device import REQUEST_ADDRESSED
from engine.sched.limits import pages_of
from engine.shadow.mirrors import unpadded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from engine.disagg.mail import TransferInfo
    from engine.disagg.records import Stage
    from engine.events import EventLog, Field
    from engine.pools.device import DevicePools
    from engine.shadow.room_tags import Tags
    from kernels.layout import LayerView
    from kernels.ops import PageDigest


class Layer(NamedTuple):
    """One layer of one pool; ``view`` leaves the padding out."""

    pool: str
    number: int
    view: LayerView


class Taken(NamedTuple):
    """Digests of some pools at some positions: int64 [layers, positions]."""

    stage: Stage
    layers: list[Layer]
    positions: tuple[int, ...]
    pages: tuple[int, ...]
    digests: Tensor


class RoomDigests:
    """Digests of both sides' pages by room, and what differs between them."""

    def __init__(
        self,
        src: DevicePools,
        dst: DevicePools,
        digest: PageDigest,
        events: EventLog,
        tags: Tags,
    ) -> None:
        self._sides = {"post_store": _views(src), "post_transfer": _views(dst)}
        self._digest, self._events, self._tags = digest, events, tags
        self._taken: dict[int, list[Taken]] = {}
        events.count("rooms_checked", 0)

    def stored(self, room: int, positions: Sequence[int], pages: Sequence[int]) -> None:
        """A chunk's prefill pages, at the moment they are sent."""
        self._take(room, "post_store", EVERY_CHUNK, positions, pages)

    def stored_state(
        self, room: int, positions: Sequence[int], pages: Sequence[int], slot: int
    ) -> None:
        """What goes with the last chunk, at the moment it is sent."""
        self._take(room, "post_store", LAST_CHUNK_PAGED, positions, pages)
        self._take(room, "post_store", (REQUEST_ADDRESSED,), [0], [slot])

    def committed(self, room: int, info: TransferInfo, tokens: int) -> None:
        """Judge a room of ``tokens`` prompt tokens that the decode side takes now."""
        pages = info.pages[: pages_of(tokens)]
        before = self._taken.setdefault(room, [])
        sent = {_place(row): row.digest for row in _rows(room, before) if row.stage == "post_store"}
        window = window_pages(tokens)
        here = len(before)
        self._take(room, "post_transfer", EVERY_CHUNK, range(len(pages)), pages)
        self._take(room, "post_transfer", LAST_CHUNK_PAGED, window, [pages[at] for at in window])
        self._take(room, "post_transfer", (REQUEST_ADDRESSED,), [0], [info.req_slot])
        self._events.count("rooms_checked")
        arrived = _rows(room, self._taken[room][here:])
        self._judge(room, info, [row for row in arrived if sent.get(_place(row)) != row.digest])

    def digests(self) -> list[RoomDigest]:
        """All that was digested, room by room, of each in the order of time."""
        return [row for room, taken in self._taken.items() for row in _rows(room, taken)]

    def _take(
        self,
        room: int,
        stage: Stage,
        names: Sequence[str],
        positions: Sequence[int],
        pages: Sequence[int],
    ) -> None:
        """One call of the digest a layer."""
        if not pages:
            return
        layers = [layer for layer in self._sides[stage] if layer.pool in names]
        ids = torch.tensor(pages, dtype=torch.int64, device=layers[0].view.pages.device)
        digests = torch.stack([self._digest(layer.view, ids) for layer in layers])
        taken = Taken(stage, layers, tuple(positions), tuple(pages), digests)
        self._taken.setdefault(room, []).append(taken)

    def _judge(self, room: int, info: TransferInfo, differing: Sequence[RoomDigest]) -> None:
        """One violation a pool: how many pages of it differ, which is the first, and who wrote it:
        somebody else than the room, if anybody did.
        """
        found: dict[str, dict[int, int]] = {}
        for row in differing:
            found.setdefault(row.pool, {})[row.position] = row.page
        for pool, pages in found.items():
            first = min(pages)
            paged = pool != REQUEST_ADDRESSED
            known: dict[str, Field] = {"generation": info.takes[first]} if paged else {}
            self._events.violation(
                "room_bytes_differ",
                n=len(pages),
                room=room,
                pool=pool,
                position=first,
                page=pages[first],
                **known,
                **self._tags.writer(pool, pages[first], room),
            )


def _views(pools: DevicePools) -> list[Layer]:
    return [
        Layer(pool.name, number, unpadded(view))
        for pool in pools.pools
        for number, view in enumerate(pool.layers)
    ]


def _rows(room: int, taken: Sequence[Taken]) -> list[RoomDigest]:
    """Every page row; waits for the device once."""
    if not taken:
        return []
    digests = iter(torch.cat([each.digests.flatten() for each in taken]).tolist())
    return [
        RoomDigest(room, each.stage, layer.pool, layer.number, position, page, next(digests))
        for each in taken
        for layer in each.layers
        for position, page in zip(each.positions, each.pages, strict=True)
    ]


def _place(row: RoomDigest) -> tuple[str, int, int]:
    return row.pool, row.layer, row.position
