"""What the prefix cache asks of the tier below the device. One rule: pages in, stages out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.streams import Stage


class HostPage(NamedTuple):
    """Where the host keeps one page of 256 tokens.

    ``anchor`` addresses the KV-derived sidecars (c4, c128, index-K and the compressor states);
    ``swa`` the sliding-window pool, which has an allocator of its own. Page 0 is reserved in both.

    A simplification: the two are taken and freed as a pair. SGLang evicts windows by themselves
    (sgl-project/sglang#26577), so that a prefix can be there without its window; here it cannot.
    """

    anchor: int
    swa: int


class HostTier(Protocol):
    """The host's mirror of the device pools. Sizes are pages of 256 tokens."""

    @property
    def pages(self) -> int:
        """Pages in all, the reserved one not counted."""

    @property
    def available(self) -> int:
        """Pages that ``allocate`` could give now."""

    def allocate(self, pages: int) -> list[HostPage] | None:
        """Take host pages, all or none: None where there are fewer."""

    def free(self, pages: Sequence[HostPage]) -> None:
        """Give host pages back; the reserved page is nobody's and is passed over."""

    def backup(self, device: Sequence[int], host: Sequence[HostPage]) -> list[Stage]:
        """The copy of device pages to host pages, one for one, of every pool: one stage."""

    def load(self, host: Sequence[HostPage], device: Sequence[int]) -> list[Stage]:
        """The copy of host pages to device pages: one stage a layer of the model, in order."""

    def settled(self, device: Sequence[int], host: Sequence[HostPage]) -> None:
        """A backup was acknowledged: check that its source still is what was copied."""

    def loaded(self, device: Sequence[int]) -> None:
        """A load into these pages was acknowledged."""
