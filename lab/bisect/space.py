"""Which configurations there are, and which sets of toggles may be to blame.

One rule: a configuration is the set of toggles at their bad value; as a bit mask, toggle i of
`Space.toggles` is bit i.

A toggle may *need* others: it is bad only where all of those are bad (``queue_size`` means nothing
without ``pd``). A culprit set is a configuration itself, so it is closed under needs, too; its size
counts no toggle that comes with another one of the set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import combinations
from operator import or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

Masks = NDArray[np.int64]
MOST_TOGGLES = 16


@dataclass(frozen=True)
class Config:
    """Which toggles are bad; ``levels`` are numeric knobs at a value between good and bad."""

    bad: frozenset[str] = frozenset()
    levels: tuple[tuple[str, Any], ...] = ()

    def without(self, *keys: str) -> Config:
        """The same with these toggles good."""
        return Config(self.bad - set(keys), self.levels)


@dataclass(frozen=True)
class Space:
    """The toggles on offer, in the file's order; what a toggle needs has needs of its own."""

    toggles: tuple[str, ...]
    needs: Mapping[str, frozenset[str]] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)  # likelier or less than 1.0

    def __post_init__(self) -> None:
        if len(self.toggles) > MOST_TOGGLES:
            raise ValueError(f"{len(self.toggles)} toggles; at most {MOST_TOGGLES}")

    @property
    def suspect(self) -> Config:
        """Every toggle bad."""
        return Config(frozenset(self.toggles))

    @property
    def baseline(self) -> Config:
        """Every toggle good."""
        return Config()

    def mask(self, keys: Iterable[str]) -> int:
        """The toggles as bits."""
        return sum(1 << self.toggles.index(key) for key in keys)

    def keys(self, mask: int) -> tuple[str, ...]:
        """The bits as toggles, in the file's order."""
        return tuple(key for i, key in enumerate(self.toggles) if mask >> i & 1)

    def config(self, mask: int) -> Config:
        """The configuration of these bits."""
        return Config(frozenset(self.keys(mask)))

    @cached_property
    def needed(self) -> tuple[int, ...]:
        """For each toggle the bits that it needs."""
        return tuple(self.mask(self.needs.get(key, ())) for key in self.toggles)

    def valid(self, mask: int) -> bool:
        """Whether every toggle of the mask has what it needs."""
        return all(self.needed[i] & ~mask == 0 for i in range(len(self.toggles)) if mask >> i & 1)

    @cached_property
    def configs(self) -> Masks:
        """Every valid configuration, ascending."""
        every = np.arange(1 << len(self.toggles), dtype=np.int64)
        for i, needed in enumerate(self.needed):
            bad = every >> i & 1 == 1
            every = every[~bad | (every & needed == needed)]
        return every

    def culprits(self, most: int) -> tuple[int, ...]:
        """The empty set and every valid set of at most that `size`, smallest first."""
        bits = [1 << i for i in range(len(self.toggles))]
        sets = (sum(some) for size in range(most + 1) for some in combinations(bits, size))
        return tuple(sorted(dict.fromkeys(map(self.closed, sets)), key=self.size))

    def closed(self, mask: int) -> int:
        """``mask`` with all that its toggles need."""
        whole = mask
        while more := self._needed_by(whole) & ~whole:
            whole |= more
        return whole

    def size(self, mask: int) -> int:
        """The toggles of a valid set that no other one of it needs: the rest comes with them."""
        return (mask & ~self._needed_by(mask)).bit_count()

    def _needed_by(self, mask: int) -> int:
        return reduce(or_, (bits for i, bits in enumerate(self.needed) if mask >> i & 1), 0)

    def without(self, mask: int, key: str) -> int:
        """``mask`` with ``key`` good, and good whatever needs it."""
        return self.valid_part(mask & ~self.mask([key]))

    def valid_part(self, mask: int) -> int:
        """``mask`` less the toggles that lack what they need: what the target really does."""
        while not self.valid(mask):
            for i, needed in enumerate(self.needed):
                if needed & ~mask:
                    mask &= ~(1 << i)
        return mask

    def within(self, mask: int) -> Space:
        """The space in which every toggle outside ``mask`` stays good."""
        keys = self.keys(mask)
        needs = {key: self.needs[key] for key in keys if key in self.needs}
        return Space(keys, needs, self.weights)
