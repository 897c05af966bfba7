"""The KV anchor of the host tier: page indices that the sidecar pools share, and no bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.config import PAGE_TOKENS
from engine.errors import PoolError
from engine.pools.allocator import PageAllocator

if TYPE_CHECKING:
    from collections.abc import Sequence


class LogicalHostPool:
    """Host pages 1..``pages`` of 256 tokens; page 0 is reserved, as on the device.

    Counts are tokens. ``PoolError`` where they are no whole pages: that is why a copy between the
    radix tree and the host never cuts a page.
    """

    def __init__(self, pages: int) -> None:
        self.allocator = PageAllocator(pages)

    def allocate(self, tokens: int) -> list[int] | None:
        """The pages of ``tokens`` tokens, or None where fewer are free."""
        pages = self._whole(tokens)
        return self.allocator.allocate(pages) if self.allocator.can_allocate(pages) else None

    def free(self, pages: Sequence[int], tokens: int) -> None:
        """Give back ``pages``, which hold ``tokens`` tokens."""
        if self._whole(tokens) != len(pages):
            raise PoolError(f"{tokens} tokens are not those of {len(pages)} pages")
        self.allocator.free(pages)

    def _whole(self, tokens: int) -> int:
        if tokens < 0 or tokens % PAGE_TOKENS:
            raise PoolError(f"{tokens} tokens: the anchor counts whole pages of {PAGE_TOKENS}")
        return tokens // PAGE_TOKENS
