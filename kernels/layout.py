"""Where every byte of a page lives: the one place that does arithmetic on sizes, strides and item
bytes.

A pool is a `PageLayout` plus a number of pages. Copies, transfers and kernels take views made here
and use their strides; nothing else multiplies a token count by a width. Two sides of a hand-over
compare layouts with `==` and refuse when they differ.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import torch
from torch import Tensor


def widest_word(*views: Tensor) -> torch.dtype:
    """The widest integer that all of these uint8 views, bytes in their last dimension, can be
    viewed as: torch and memory move wide words several times faster.
    """
    counts = [int(n) for v in views for n in (v.shape[-1], v.storage_offset(), *v.stride()[:-1])]
    for word in (torch.int64, torch.int32, torch.int16):
        if not any(n % word.itemsize for n in counts):
            return word
    return torch.uint8


class Order(Enum):
    """How the layers and pages of one buffer nest, named as SGLang's host pools name it."""

    LAYER_FIRST = "layer_first"  # [layer, page, byte]
    PAGE_FIRST = "page_first"  # [page, layer, byte]
    PAGE_FIRST_DIRECT = "page_first_direct"  # [page, layer, 1, byte]


@dataclass(frozen=True)
class Plane:
    """One tensor of a page: `per_token` elements of `dtype` for each of the page's tokens, stored
    token after token.
    """

    name: str
    per_token: int
    dtype: torch.dtype

    @property
    def row_bytes(self) -> int:
        """Bytes that one token takes in this plane."""
        return self.per_token * self.dtype.itemsize


@dataclass(frozen=True)
class PageLayout:
    """The bytes of one page of one layer (structure of arrays: plane after plane, then padding),
    and how layers and pages nest.

    Equal layouts hold equal bytes; `order` and `layers` are part of the comparison.
    """

    planes: tuple[Plane, ...]
    page_tokens: int
    layers: int
    order: Order = Order.LAYER_FIRST
    row_align: int = 1

    @cached_property
    def page_bytes(self) -> int:
        """Bytes of one page of one layer, padded to a multiple of `row_align`."""
        used = sum(p.row_bytes for p in self.planes) * self.page_tokens
        return -(-used // self.row_align) * self.row_align

    @cached_property
    def offsets(self) -> Mapping[str, int]:
        """First byte of each plane inside a page, by name."""
        starts, at = {}, 0
        for p in self.planes:
            starts[p.name] = at
            at += p.row_bytes * self.page_tokens
        return starts

    def named(self, name: str) -> Plane:
        """The plane called `name`. Raises KeyError, which lists the planes there are."""
        for p in self.planes:
            if p.name == name:
                return p
        raise KeyError(f"no plane {name!r}; this layout has {[p.name for p in self.planes]}")

    def offset(self, name: str) -> int:
        """First byte of plane `name` inside a page."""
        return self.offsets[self.named(name).name]

    def row_bytes(self, name: str) -> int:
        """Bytes that one token takes in plane `name`."""
        return self.named(name).row_bytes

    def rows_within(self, width: int) -> tuple[list[int], list[int]]:
        """The rows of a page that lie wholly in its first `width` bytes, every plane's, and those
        that lie there in part.
        """
        whole, torn = [], []
        for row in range(self.page_tokens):
            starts = [self.offsets[p.name] + row * p.row_bytes for p in self.planes]
            inside = [min(p.row_bytes, width - s) for p, s in zip(self.planes, starts, strict=True)]
            if all(n == p.row_bytes for n, p in zip(inside, self.planes, strict=True)):
                whole.append(row)
            elif max(inside) > 0:
                torn.append(row)
        return whole, torn

    def allocate(
        self, pages: int, device: str | torch.device = "cpu", fill: int = 0, pin: bool = False
    ) -> Tensor:
        """A uint8 buffer for `pages` pages of every layer, shaped as `order` says, every byte set
        to `fill`; `pin` takes page-locked host memory, which a GPU addresses itself.
        """
        shape = {
            Order.LAYER_FIRST: (self.layers, pages, self.page_bytes),
            Order.PAGE_FIRST: (pages, self.layers, self.page_bytes),
            Order.PAGE_FIRST_DIRECT: (pages, self.layers, 1, self.page_bytes),
        }[self.order]
        if not fill:  # zeroed memory costs nothing until it is touched: host pools are large
            return torch.zeros(shape, dtype=torch.uint8, device=device, pin_memory=pin)
        return torch.full(shape, fill, dtype=torch.uint8, device=device, pin_memory=pin)

    def by_page(self, buf: Tensor) -> Tensor:
        """The same bytes as uint8 `[page, layer, page_bytes]`, whatever the order; a view, never a
        copy.
        """
        if self.order is Order.LAYER_FIRST:
            return buf.transpose(0, 1)
        return buf if self.order is Order.PAGE_FIRST else buf.squeeze(2)

    def layer(self, buf: Tensor, i: int) -> "LayerView":
        """Layer `i` of the buffer, as the operations take it."""
        return LayerView(self, self.by_page(buf)[:, i])


@dataclass(frozen=True)
class FlatRows:
    """A plane seen as one matrix of byte rows that spans all pages, so that a single `index_select`
    moves whole rows.

    Row of a slot = `first + (slot // page_tokens) * page_rows + slot % page_tokens`. Rows between
    planes hold other planes' bytes.
    """

    rows: Tensor  # [rows, words], or [rows] of one word each; in the widest integer that fits
    first: int
    page_rows: int
    page_tokens: int

    @classmethod
    def of(cls, pages: Tensor, row_bytes: int, start: int, page_tokens: int) -> "FlatRows":
        """The plane that begins `start` bytes into each of `pages`; both divide by `row_bytes`."""
        first, page_rows = start // row_bytes, pages.stride(0) // row_bytes
        count = (len(pages) - 1) * page_rows + first + page_tokens
        rows = pages.as_strided((count, row_bytes), (row_bytes, 1))
        rows = rows.view(widest_word(rows))
        rows = rows.squeeze(1) if rows.shape[1] == 1 else rows
        return cls(rows, first, page_rows, page_tokens)

    def index(self, slots: Tensor) -> Tensor:
        """Row of each slot, in the integer dtype of `slots`."""
        spare = self.page_rows - self.page_tokens
        if spare:
            slots = torch.add(slots, slots // self.page_tokens, alpha=spare)
        return slots + self.first if self.first else slots


@dataclass(frozen=True, eq=False)
class LayerView:
    """One layer of one pool: `pages` is uint8 `[page, page_bytes]`, strided over pages. What every
    operation takes.
    """

    layout: PageLayout
    pages: Tensor

    def rows(self, name: str) -> Tensor:
        """uint8 `[page, page_tokens, row_bytes]` of a plane, a strided view of the pool's own
        bytes.
        """
        start, size = self.layout.offset(name), self.layout.row_bytes(name)
        block = self.pages[:, start : start + size * self.layout.page_tokens]
        return block.view(len(block), self.layout.page_tokens, size)

    def plane(self, name: str) -> Tensor:
        """`rows` as the plane's dtype: `[page, page_tokens, per_token]`."""
        return self.rows(name).view(self.layout.named(name).dtype)

    # whoever is first to ask: a view made in inference mode could not be written outside of it
    @cached_property
    @torch.inference_mode(mode=False)
    def flat(self) -> Mapping[str, FlatRows]:
        """Rows of each plane whose row size divides its offset and the page stride; no others."""
        found = {}
        for p in self.layout.planes:
            start = self.layout.offset(p.name)
            whole = (self.pages.stride(0) % p.row_bytes, start % p.row_bytes) == (0, 0)
            if whole and len(self.pages) > 0:
                found[p.name] = FlatRows.of(self.pages, p.row_bytes, start, self.layout.page_tokens)
        return found

    def gather(self, name: str, slots: Tensor) -> Tensor:
        """Copies the rows of `slots` (int [N], all >= 0): uint8 `[N, row_bytes]`."""
        flat, width = self.flat.get(name), self.layout.row_bytes(name)
        if flat is not None:
            rows = flat.rows.index_select(0, flat.index(slots))
            return rows.view(torch.uint8).view(len(slots), width)
        page, offset = slots // self.layout.page_tokens, slots % self.layout.page_tokens
        return self.rows(name)[page.long(), offset.long()]

    def scatter(self, name: str, slots: Tensor, rows: Tensor) -> None:
        """Writes rows (contiguous uint8 `[N, row_bytes]`) to `slots` (int64 [N], all >= 0)."""
        flat = self.flat.get(name)
        if flat is not None:
            words = rows.view(flat.rows.dtype).view(len(rows), *flat.rows.shape[1:])
            flat.rows.index_copy_(0, flat.index(slots), words)
            return
        page, offset = slots // self.layout.page_tokens, slots % self.layout.page_tokens
        self.rows(name)[page, offset] = rows
