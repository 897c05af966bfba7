"""Each version of a case against the one it is compared with: equal results, and equal writes.

Rule: where a case writes to its inputs, every version gets fresh ones, and what it wrote is part of
the comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lab.kernel_bench.same import Differs, difference

if TYPE_CHECKING:
    from kernels.production.case import Call


class Checker:
    """What one version of a case does with the inputs of seed 0, to compare others with."""

    def __init__(self, make: Callable[[int], Any], base: Call) -> None:
        self._make = make
        self._made = make(0)
        self._returned = base(self._made)
        self._fresh = make(0)
        self._writes = not _same(self._made, self._fresh)

    def off_by(self, other: Call) -> float:
        """How far what `other` does is from that; raises Differs where it is too far."""
        made, self._fresh = self._fresh, None
        made = self._make(0) if made is None else made
        returned = other(made)
        if self._writes:
            return difference((returned, made), (self._returned, self._made))
        self._fresh = made
        return difference(returned, self._returned)


def _same(a: Any, b: Any) -> bool:
    try:
        return difference(a, b) == 0.0
    except Differs:
        return False
