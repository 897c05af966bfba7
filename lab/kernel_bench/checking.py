"""Each version of a case against the one it is compared with: equal results, and equal writes.

Rule: every version gets the inputs as they were made, whatever was written to them since; where the
first one writes to them, what is written is part of the comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from lab.kernel_bench.device import settle
from lab.kernel_bench.same import difference, tensors

if TYPE_CHECKING:
    from torch import Tensor

    from kernels.production.case import Call


class Checker:
    """What `base` does with inputs, to compare others with; the inputs stay in use between."""

    def __init__(self, made: Any, base: Call) -> None:
        self._made = list(tensors(made))
        self._before = _copies(self._made)
        self._inputs = made
        returned = base(made)
        settle()
        self._returned = _copies(list(tensors(returned)))
        changed = (not _equal(a, b) for a, b in zip(self._made, self._before, strict=True))
        self._after = _copies(self._made) if any(changed) else []

    def off_by(self, other: Call) -> float:
        """How far what `other` does is from that; raises Differs where it is too far."""
        for now, before in zip(self._made, self._before, strict=True):
            now.copy_(before)
        returned = other(self._inputs)
        settle()
        written = self._made if self._after else []
        return difference((returned, written), (self._returned, self._after))


def _copies(found: Sequence[Tensor]) -> list[Tensor]:
    return [each.clone() for each in found]


def _equal(a: Tensor, b: Tensor) -> bool:
    """Bit by bit, so that NaN equals itself."""
    return torch.equal(a.flatten().view(torch.uint8), b.flatten().view(torch.uint8))
