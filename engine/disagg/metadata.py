"""Where a prefill says what it sampled: one small row for each room that is about to end.

One rule: a slot is free or held by one room; what is written in it says whose it is. Slot 0 is
reserved, so a room tag of 0 and a slot of 0 both mean none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

from engine.disagg.wire import Region
from engine.errors import PoolError
from engine.pools.allocator import Fifo

if TYPE_CHECKING:
    from torch import Tensor

AUX = "aux"  # the name of the slots' region on the wire
FIELDS = 8  # int64 each
ROW_BYTES = 8 * FIELDS


class Row(NamedTuple):
    """What a slot says: whose it is (0: nobody's), the first token, and where its prompt lay."""

    room: int
    token: int
    cached: int  # prompt tokens that the prefill found computed
    host: int  # of these, those that its host tier gave


class MetadataBuffers:
    """Slots 1..``slots``, int64 [slots + 1, 8]; the slot given back first is taken first.

    ``region`` is all of them as one layer of a pool named ``aux``, 64 bytes an item.
    """

    def __init__(self, slots: int, device: str | torch.device = "cpu") -> None:
        self.slots = slots
        self._rows: Tensor = torch.zeros(slots + 1, FIELDS, dtype=torch.int64, device=device)
        self._free = Fifo(slots)
        self._held = bytearray(slots + 1)
        self.region = Region(AUX, 0, self._rows.view(torch.uint8).view(-1), ROW_BYTES)

    @property
    def available(self) -> int:
        """Free slots."""
        return len(self._free)

    def take(self) -> int | None:
        """The slot that has been free for longest, or None. It still says what it last said."""
        if not self._free:
            return None
        slot = self._free.take()
        self._held[slot] = 1
        return slot

    def give(self, slot: int) -> None:
        """Give a slot back. Raises ``PoolError`` for one that is not held."""
        if not (0 < slot <= self.slots and self._held[slot]):
            raise PoolError(f"metadata slot {slot} was given back, but nobody holds it")
        self._held[slot] = 0
        self._free.give(slot)

    def clear(self, slot: int) -> None:
        """Make a slot nobody's."""
        self._rows[slot] = 0

    def write(self, slot: int, room: int, token: int, cached: int, host: int) -> None:
        """Say in a slot what ``Row`` lists; the other fields are 0."""
        row = (room, token, cached, host)
        self._rows[slot] = torch.tensor([*row, *[0] * (FIELDS - len(row))])

    def read(self, slot: int) -> Row:
        """What a slot says now."""
        return Row(*self._rows[slot, : len(Row._fields)].tolist())
