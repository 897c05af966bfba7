"""The store of index keys, as the model calls it. One rule: what was written is observed, not
assumed: the store answers with the slot that each row really wrote.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from torch import Tensor

    from kernels.layout import LayerView
    from kernels.ops import Ops


class IndexKStore(Protocol):
    """Seam ``index_k_store``: which rows does the store write?"""

    def __init__(self, ops: Ops) -> None: ...

    def store(self, view: LayerView, key: Tensor, loc: Tensor, live: Tensor) -> Tensor:
        """Store ``key`` f32 [N, 128] at c4 slots ``loc`` int64 [N].

        Returns int64 [N]: the slot that each row wrote, -1 where it wrote none.
        """
        ...


class GuardedStore:
    """Rows that are not live, or carry the reserved slot, are skipped: for every dtype."""

    def __init__(self, ops: Ops) -> None:
        self.ops = ops

    def store(self, view: LayerView, key: Tensor, loc: Tensor, live: Tensor) -> Tensor:
        """Store the live rows."""
        return self.ops.store_index_k(view, key, loc, live)


class StoreTrace(NamedTuple):
    """What one call of the store was given, and what it wrote: loc, live, written [N]."""

    view: LayerView
    loc: Tensor
    live: Tensor
    written: Tensor


class ObservedStore:
    """A store that remembers its last call.

    Inside a captured graph the remembered tensors are static: they are filled anew at each replay,
    so whoever captured the graph keeps the trace beside it.
    """

    def __init__(self, inner: IndexKStore) -> None:
        self.inner = inner
        self.last: StoreTrace | None = None

    def __call__(self, dst: LayerView, key: Tensor, slots: Tensor, live: Tensor) -> Tensor:
        written = self.inner.store(dst, key, slots, live)
        self.last = StoreTrace(dst, slots, live, written)
        return written
