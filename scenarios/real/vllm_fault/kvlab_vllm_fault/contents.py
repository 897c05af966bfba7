"""What the blocks of a pool hold, in every layer. One rule: whole blocks, never a part of one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Content = tuple[Any, ...]  # one tensor a layer


class Contents:
    """The KV tensors of vLLM's model runner: dimension 0 counts ``blocks`` times some kernel's own.

    Layers that share a tensor are one.
    """

    def __init__(self, caches: Iterable[Any], blocks: int) -> None:
        unlike = {cache.data_ptr(): cache for cache in caches}.values()
        self._layers = [cache.unflatten(0, (blocks, -1)) for cache in unlike]

    def take(self, block: int) -> Content:
        """A copy of what the block holds."""
        return tuple(layer[block].clone() for layer in self._layers)

    def put(self, block: int, content: Content) -> None:
        """Make the block hold this."""
        for layer, one in zip(self._layers, content, strict=True):
            layer[block].copy_(one)

    def zero(self, block: int) -> None:
        """Make the block hold zeros."""
        for layer in self._layers:
            layer[block].zero_()

    def swap(self, one: int, other: int) -> None:
        """Let two blocks exchange what they hold."""
        kept = self.take(one)
        self.put(one, self.take(other))
        self.put(other, kept)

    def same(self, one: int, other: int) -> bool:
        """Whether two blocks hold the same in every layer."""
        return all(bool((layer[one] == layer[other]).all()) for layer in self._layers)
