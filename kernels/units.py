"""Byte rows seen as units: the widest thing that a thread of a GPU loads or stores at once.

Rule: a unit is 16 bytes, two words of 8, where every side's rows begin and end on one; else it is
one word, the widest that fits. Kernels that copy know no dtype and no plane.
"""

from typing import NamedTuple

from torch import Tensor

from kernels.layout import widest_word

UNIT = 16


class Units(NamedTuple):
    """Strided rows `words` `[a, b, words]`, `per` words a unit of `size` bytes."""

    words: Tensor
    per: int
    size: int

    @property
    def strides(self) -> list[int]:
        """Units from one row to the next along the first two dimensions."""
        return [n // self.per for n in self.words.stride()[:2]]

    @property
    def width(self) -> int:
        """Units of one row."""
        return int(self.words.shape[2]) // self.per


def units(*sides: Tensor) -> list[Units]:
    """uint8 `[a, b, bytes]` views, bytes in their last dimension, all in the same units."""
    counts = [n for s in sides for n in (s.shape[-1], s.data_ptr(), *s.stride()[:-1])]
    per = 1 if any(n % UNIT for n in counts) else 2
    words = [side.view(widest_word(*sides)) for side in sides]
    size = sides[0].shape[2] // words[0].shape[2] * per
    return [Units(each, per, size) for each in words]
