"""The host's mirror of one device pool. One rule: every copy is counted by the path that it took.

The paths are SGLang's, by io backend and layout; its sources pick among them as ``HostPool`` does.

======  =================  ===================  ====================
io      layout             backup               load
======  =================  ===================  ====================
kernel  layer_first        ``all_layer_mla``    ``per_layer_mla``
kernel  page_first         ``all_layer_lf_pf``  ``per_layer_pf_lf``
direct  layer_first        ``direct_lf``        ``direct_lf``
direct  page_first_direct  ``direct_lf_pf``     ``direct_pf_lf``
any     any                ``token_granular``, where the tokens moved are no whole slot pages
======  =================  ===================  ====================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch

from engine.config import PAGE_TOKENS
from engine.errors import PoolError
from kernels.layout import Order

if TYPE_CHECKING:
    from torch import Tensor

    from engine.events import EventLog
    from engine.pools.device import Pool
    from engine.pools.token_transfer import TokenTransfer
    from engine.pools.transfer_pieces import Span, TransferPieces
    from kernels.layout import LayerView, PageLayout
    from kernels.ops import PageCopy

Operation = Literal["backup", "load"]
TOKEN_GRANULAR = "token_granular"
BRANCHES: dict[tuple[str, str], dict[Operation, str]] = {
    ("kernel", "layer_first"): {"backup": "all_layer_mla", "load": "per_layer_mla"},
    ("kernel", "page_first"): {"backup": "all_layer_lf_pf", "load": "per_layer_pf_lf"},
    ("direct", "layer_first"): {"backup": "direct_lf", "load": "direct_lf"},
    ("direct", "page_first_direct"): {"backup": "direct_lf_pf", "load": "direct_pf_lf"},
}
CUTTABLE = ("swa", "c4", "index_k", "c128")  # their entries are tokens; rings have none to cut


@dataclass(frozen=True)
class Moves:
    """How bytes cross: what copies pages, what copies tokens, and which of the two is asked."""

    io: str
    slot_page: int
    pages: PageCopy
    tokens: TokenTransfer
    pieces: TransferPieces


class HostPool:
    """``rows`` host pages (page 0 included) that mirror ``device`` by ``layout``.

    ``data_ptrs`` are the layers as a token-granular copy addresses them: None unless the layout is
    layer_first. Pages and ids are int64 tensors on the device pool's device.
    """

    def __init__(
        self, device: Pool, layout: PageLayout, rows: int, moves: Moves, events: EventLog
    ) -> None:
        self.name, self.device, self.layout, self.rows = device.name, device, layout, rows
        self.moves, self.events = moves, events
        self.buffer = layout.allocate(rows, pin=device.buffer.is_cuda)
        self.data_ptrs: tuple[LayerView, ...] | None = None
        if layout.order is Order.LAYER_FIRST:
            self.data_ptrs = tuple(layout.layer(self.buffer, i) for i in range(layout.layers))
        self._host = layout.by_page(self.buffer)
        self._theirs = _by_page(device)
        self._branch = BRANCHES[moves.io, layout.order.value]
        for operation, branch in self._branch.items():  # a path not taken is a finding too
            for path in (branch, TOKEN_GRANULAR):
                self._count(operation, path, 0, 0)

    def backup(self, device: Tensor, host: Tensor) -> None:
        """Copy device pages to host pages, one for one, every layer."""
        self._move("backup", range(self.layout.layers), device, host)

    def load(self, layer: int, host: Tensor, device: Tensor) -> None:
        """Copy one layer of host pages to device pages, one for one."""
        self._move("load", range(layer, layer + 1), device, host)

    def _move(self, operation: Operation, layers: range, device: Tensor, host: Tensor) -> None:
        for start, end in self._pieces():
            if (len(host) * (end - start)) % self.moves.slot_page:
                spans = (self._slots(page, start, end) for page in (device, host))
                self._by_tokens(operation, layers, *spans)
            else:
                self._by_pages(operation, layers, device, host)

    def _pieces(self) -> list[Span]:
        # rows of unequal planes have no token in common, so only whole pages of them can move
        whole = self.name not in CUTTABLE or self.layout.planes != self.device.layout.planes
        return [(0, PAGE_TOKENS)] if whole else self.moves.pieces.pieces(self)

    def _slots(self, pages: Tensor, start: int, end: int) -> Tensor:
        """Slots of the entries that tokens [start, end) of each page complete."""
        entries = self.layout.page_tokens
        ratio = PAGE_TOKENS // entries
        inside = torch.arange(start // ratio, end // ratio, device=pages.device)
        return (pages[:, None] * entries + inside).flatten()

    def _by_tokens(self, op: Operation, layers: range, device: Tensor, host: Tensor) -> None:
        if self.data_ptrs is None:
            raise PoolError(
                f"{self.name}: {len(host)} entries are no whole slot pages, and a "
                f"{self.layout.order.value} host pool has no data pointers to copy tokens by"
            )
        for i in layers:
            ours, theirs = self.data_ptrs[i], self.device.layers[i]
            if op == "backup":
                self.moves.tokens.copy(ours, theirs, host, device)
            else:
                self.moves.tokens.copy(theirs, ours, device, host)
        self._count(op, TOKEN_GRANULAR, 1, len(host) * len(layers))

    def _by_pages(self, op: Operation, layers: range, device: Tensor, host: Tensor) -> None:
        part = slice(layers.start, layers.stop)
        ours, theirs = self._host[:, part], self._theirs[:, part]
        copy = self.moves.pages if self.moves.io == "kernel" else copy_rows
        if self.moves.io == "direct" and self.data_ptrs is not None:
            host, order = host.sort()
            device = device[order]
        if op == "backup":
            copy(ours, theirs, host, device)
        else:
            copy(theirs, ours, device, host)
        self._count(op, self._branch[op], 1, len(host) * len(layers))

    def _count(self, operation: Operation, path: str, calls: int, rows: int) -> None:
        name = f"{self.name}:{operation}:{path}:{self.layout.order.value}"
        self.events.count(f"path:{name}", calls)
        self.events.count(f"path_rows:{name}", rows)


def copy_rows(dst: Tensor, src: Tensor, dst_pages: Tensor, src_pages: Tensor) -> None:
    """``page_copy`` as plain copies of one page row after another: io ``direct``."""
    width = min(dst.shape[2], src.shape[2])
    for to, frm in zip(dst_pages.tolist(), src_pages.tolist(), strict=True):
        for layer in range(dst.shape[1]):
            dst[to, layer, :width].copy_(src[frm, layer, :width], non_blocking=True)


def _by_page(pool: Pool) -> Tensor:
    """The pool's page rows as uint8 [page, layer, bytes], wherever its builder put each page."""
    first = pool.layers[0].pages
    rows, width = first.shape
    step = pool.buffer.stride(0) if len(pool.layers) > 1 else width
    return pool.buffer.as_strided((rows, len(pool.layers), width), (first.stride(0), step, 1))
