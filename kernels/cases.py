"""Awkward shapes and the pools' own planes, shared by tests and benchmarks.

Rule: a shape is here because it once broke a kernel somewhere: sizes beside a power of two, one
row, one head, nothing seen, rows shared, pages out of order.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from kernels.layout import LayerView, Order, PageLayout, Plane
from kernels.ops import Ops

LATENT = (Plane("value", 576, torch.uint8), Plane("scale", 8, torch.uint8))
INDEX_K = {
    "fp8": (Plane("value", 128, torch.float8_e4m3fn), Plane("scale", 1, torch.float32)),
    "bf16": (Plane("value", 128, torch.bfloat16),),
}
ROWS = (1, 60, 63, 65)
TOP_K = (1, 16, 63, 64)
PAGES = (1, 63, 65)
# planes of 6 and 5 bytes a token, neither of which divides a page of 80
ODD = (Plane("a", 3, torch.int16), Plane("b", 5, torch.uint8))

Dims = tuple[int, int] | None


@dataclass(frozen=True)
class AttentionCase:
    """Rows and heads of an attention, how its queries score, and which value dims are asked for."""

    rows: int
    heads: int
    rope_only: bool
    dims: Dims

    def query(self, g: torch.Generator) -> Tensor:
        """float32 [rows, heads, 64 or 512], small enough that a softmax sees many rows."""
        width = 64 if self.rope_only else 512
        return torch.randn(self.rows, self.heads, width, generator=g).div_(math.sqrt(width))


ATTENTION = (
    AttentionCase(1, 1, False, None),
    AttentionCase(5, 3, True, (0, 385)),
    AttentionCase(3, 4, False, (448, 512)),
    AttentionCase(4, 2, True, (130, 209)),
    AttentionCase(2, 3, False, (440, 460)),
    AttentionCase(3, 2, True, None),
)


def latent_layout(
    page_tokens: int, layers: int = 2, order: Order = Order.LAYER_FIRST
) -> PageLayout:
    """A latent pool: rows of 584 bytes, pages padded to a multiple of 576."""
    return PageLayout(LATENT, page_tokens, layers, order, row_align=576)


def index_layout(dtype: str, layers: int = 1, order: Order = Order.LAYER_FIRST) -> PageLayout:
    """An index-K pool of 64-entry pages, `dtype` fp8 or bf16."""
    return PageLayout(INDEX_K[dtype], 64, layers, order)


def odd_layout(
    page_tokens: int = 7, layers: int = 3, order: Order = Order.LAYER_FIRST
) -> PageLayout:
    """A pool that no wide word fits, and whose rows no plane is a whole number of."""
    return PageLayout(ODD, page_tokens, layers, order, row_align=5)


def noise(layout: PageLayout, pages: int, g: torch.Generator) -> Tensor:
    """A buffer of random bytes, for copies: no number in it means anything."""
    shape = layout.allocate(pages).shape
    return torch.randint(0, 256, shape, generator=g, dtype=torch.uint8)


def filled(ops: Ops, layout: PageLayout, pages: int, g: torch.Generator) -> LayerView:
    """The last layer of a pool whose every slot but those of page 0 holds a random row; page 0 and
    the other layers are all ones, which read as NaN.
    """
    view = layout.layer(layout.allocate(pages, fill=0xFF), layout.layers - 1)
    slots = torch.arange(layout.page_tokens, pages * layout.page_tokens)
    latent = layout.planes == LATENT
    for part in _parts(slots):
        rows = torch.randn(len(part), 512 if latent else 128, generator=g)
        store = ops.store_latent if latent else ops.store_index_k
        store(view, rows, part, torch.ones(len(part), dtype=torch.bool))
    return view


def _parts(slots: Tensor, size: int = 1 << 15) -> Iterator[Tensor]:
    for i in range(0, len(slots), size):
        yield slots[i : i + size]


def page_table(rows: int, pages: int, width: int, shared: int, g: torch.Generator) -> Tensor:
    """int32 [rows, width] of page ids in 1 .. pages - 1, in random order; even rows name the same
    first `shared` pages as row 0.
    """
    table = torch.randint(1, pages, (rows, width), generator=g, dtype=torch.int32)
    table[::2, :shared] = table[0, :shared].clone()
    return table


def random_slots(view: LayerView, shape: tuple[int, int], g: torch.Generator) -> Tensor:
    """int32 slots of live rows, about one in eight dead (-1), in no order."""
    tokens = view.layout.page_tokens
    top = len(view.pages) * tokens
    slots = torch.randint(tokens, top, shape, generator=g, dtype=torch.int32)
    return slots.masked_fill_(torch.rand(shape, generator=g) < 0.125, -1)
