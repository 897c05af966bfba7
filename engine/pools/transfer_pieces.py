"""How much of a page one transfer moves. One rule: the pieces of a page cover it, once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from engine.config import PAGE_TOKENS

if TYPE_CHECKING:
    from kernels.layout import LayerView

Span = tuple[int, int]  # tokens [start, end) of a page


class Cuttable(Protocol):
    """A host pool, as far as the question needs it."""

    name: str

    @property
    def data_ptrs(self) -> tuple[LayerView, ...] | None:
        """What a token-granular copy addresses, one a layer; None where the layout has none."""


class TransferPieces(Protocol):
    """Seam ``transfer_pieces``: which tokens of each page go in one transfer?"""

    def pieces(self, pool: Cuttable) -> list[Span]:
        """Half-open token spans of a page, one a transfer."""
        ...


class WholePages:
    """A transfer moves whole pages: its count always divides by the slot page."""

    def pieces(self, pool: Cuttable) -> list[Span]:
        """The page as one piece."""
        return [(0, PAGE_TOKENS)]
