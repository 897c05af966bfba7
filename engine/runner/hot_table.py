"""Which place of the hot buffer holds which c4 entry, request by request; who leaves for whom.

One rule: every shape is static and nothing waits for the device, so a captured step can hold it.
Row 0 is nobody's: rows that are not live work on it, and its contents mean nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from engine.config import C4_RATIO, PAGE_TOKENS

if TYPE_CHECKING:
    from torch import Tensor

ENTRIES = PAGE_TOKENS // C4_RATIO  # c4 entries a page: the newest ones of a request


class HotTable:
    """Tables of ``requests`` rows. Places [0, lru) hold entries that were swapped in, least
    recently used first out; places [lru, lru + 64) the newest entries, a ring.

    ``held`` int32 [requests, places + 1]: the c4 slot in each place, -1 none. ``used`` int64, the
    same shape: when it was last read. ``place`` int32 [requests, slots + 1]: where each slot is,
    -1 nowhere. The last column of each takes what rows write that must not write.
    """

    def __init__(self, requests: int, lru: int, slots: int, device: str) -> None:
        self.lru, self.places, self.slots = lru, lru + ENTRIES, slots
        shape = requests, self.places + 1
        self.held = torch.full(shape, -1, dtype=torch.int32, device=device)
        self.used = torch.zeros(shape, dtype=torch.int64, device=device)
        self.place = torch.full((requests, slots + 1), -1, dtype=torch.int32, device=device)
        self.clock = torch.zeros(1, 1, dtype=torch.int64, device=device)

    def reset(self, request: int) -> None:
        """Forget what a request held."""
        held = self.held[request]
        self.place[request].index_fill_(0, torch.where(held < 0, self.slots, held.long()), -1)
        held.fill_(-1)
        self.used[request].zero_()

    def ring(self, entry: Tensor) -> Tensor:
        """The place of each newest entry, counted within its request."""
        return self.lru + entry % ENTRIES

    def holds(self, request: Tensor, place: Tensor) -> Tensor:
        """int64 [rows, n]: the slot in each place, -1 none."""
        return self.held.take(self._held_at(request, place)).long()

    def find(self, request: Tensor, slot: Tensor) -> Tensor:
        """int64 [rows, n]: the place of each slot, -1 where it must be fetched."""
        return self.place.take(self._place_at(request, slot)).long()

    def put(self, request: Tensor, place: Tensor, slot: Tensor, live: Tensor) -> None:
        """Note that places now hold slots, all [rows, n]; what they held is on the host alone."""
        at = self._held_at(request, torch.where(live, place, self.places))
        old = self.held.take(at).long()
        gone = torch.where(live & (old >= 0), old, self.slots)
        self.place.put_(self._place_at(request, gone), torch.full_like(place, -1).to(torch.int32))
        to = self._place_at(request, torch.where(live, slot, self.slots))
        self.place.put_(to, place.to(torch.int32))
        self.held.put_(at, slot.to(torch.int32))

    def claim(self, request: Tensor, slot: Tensor, live: Tensor) -> tuple[Tensor, Tensor]:
        """(place int64, missing bool), each [rows, n], of the slots that a step reads, n <= lru.

        Missing ones get the places least recently read, none of them a place of this step; equals
        go by place, so that every device agrees. Whoever asks fetches them.
        """
        place = self.find(request, slot)
        missing = live & (place < 0)
        self.clock += 1
        now, spare = self.clock.expand_as(place), self.places
        used = self.used.index_select(0, request)
        used.scatter_(1, torch.where(live & ~missing, place, spare), now)
        oldest = used[:, : self.lru].sort(dim=1, stable=True).indices
        victim = oldest.gather(1, (missing.cumsum(1) - 1).clamp_(min=0))
        place = torch.where(missing, victim, place)
        used.scatter_(1, torch.where(live, place, spare), now)
        self.used.index_copy_(0, request, used)
        self.put(request, place, slot, missing)
        return place, missing

    def _held_at(self, request: Tensor, place: Tensor) -> Tensor:
        return request[:, None] * (self.places + 1) + place

    def _place_at(self, request: Tensor, slot: Tensor) -> Tensor:
        return request[:, None] * (self.slots + 1) + slot
