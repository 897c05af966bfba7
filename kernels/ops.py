"""Ops: the frozen set of operations that an engine is given; torch on a CPU, Triton on a GPU, or
one of them replaced by a faulty twin.

Rule: nothing outside this package picks an implementation. `dataclasses.replace(ops,
store_index_k=...)` swaps one operation.
"""

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from kernels import jit
from kernels.indexer_logits import indexer_logits_ref, indexer_logits_triton
from kernels.layout import LayerView
from kernels.page_copy import page_copy_ref, page_copy_triton
from kernels.page_digest import page_digest_ref, page_digest_triton
from kernels.sparse_attention import Segment, sparse_attention_ref, sparse_attention_triton
from kernels.store_index_k import store_index_k_ref, store_index_k_triton
from kernels.store_latent import store_latent_ref, store_latent_triton
from kernels.token_copy import token_copy_ref, token_copy_triton
from kernels.topk import (
    topk_slots_v1_ref,
    topk_slots_v1_triton,
    topk_slots_v2_ref,
    topk_slots_v2_triton,
)
from kernels.window_attention import window_attention_ref, window_attention_triton

__all__ = ["LayerView", "Ops", "Segment"]


class StoreLatent(Protocol):
    """Writes latents (float32 or bfloat16 [N, 512]) to int64 slots [N] where live (bool [N]) and
    slot > 0.
    """

    def __call__(self, dst: LayerView, latent: Tensor, slots: Tensor, live: Tensor) -> None: ...


class StoreIndexK(Protocol):
    """Writes index keys (float32 or bfloat16 [N, 128]) to int64 slots [N] where live and slot > 0;
    returns int64 [N], the slot each row really wrote, -1 = skipped.
    """

    def __call__(self, dst: LayerView, key: Tensor, slots: Tensor, live: Tensor) -> Tensor: ...


class IndexerLogits(Protocol):
    """float32 [B, P * page_tokens] logits of every entry in each row's pages (int32 [B, P]), -inf
    at and beyond `lens` (int32 [B], in entries). q is float32, bfloat16 or e4m3 [B, heads, 128],
    weight float32 [B, heads].
    """

    def __call__(
        self, src: LayerView, q: Tensor, weight: Tensor, page_table: Tensor, lens: Tensor
    ) -> Tensor: ...


class TopkSlots(Protocol):
    """int32 [B, k] slots of the k largest of float32 logits [B, P * page_tokens], -1 = none; all
    positions in order where `lens` (int32 [B]) <= k. page_table int32 [B, P].
    """

    def __call__(self, logits: Tensor, lens: Tensor, page_table: Tensor, k: int) -> Tensor: ...


class SparseAttention(Protocol):
    """(out [B, H, dims], lse float32 [B, H]): one softmax a head over all segments and the sink.

    q and out are float32, or bfloat16, as served: of these a kernel takes all 512 dims only.
    """

    def __call__(
        self,
        q: Tensor,
        segments: tuple[Segment, ...],
        bias: Tensor,
        sink: Tensor,
        *,
        rope_only: bool = False,
        dims: tuple[int, int] | None = None,
    ) -> tuple[Tensor, Tensor]: ...


class WindowAttention(Protocol):
    """(out float32 [T, H, dims], lse float32 [T, H]) of the last T positions of a context (int64
    slots, -1 = dead), each over its window. q float32 [T, H, 512] or [T, H, 64].
    """

    def __call__(
        self,
        q: Tensor,
        src: LayerView,
        ctx_slots: Tensor,
        window: int,
        sink: Tensor,
        *,
        rope_only: bool = False,
        dims: tuple[int, int] | None = None,
    ) -> tuple[Tensor, Tensor]: ...


class PageDigest(Protocol):
    """int64 [N] digests of whole pages (int64 [N]), bound to the position of every byte."""

    def __call__(self, src: LayerView, pages: Tensor) -> Tensor: ...


class PageCopy(Protocol):
    """Copies page rows (int64 [N] on each side) between uint8 [page, layer, bytes] views, every
    layer; the shorter row decides.
    """

    def __call__(self, dst: Tensor, src: Tensor, dst_pages: Tensor, src_pages: Tensor) -> None: ...


class TokenCopy(Protocol):
    """Copies every plane's row of int64 slots [N] where live (bool [N] or None: all)."""

    def __call__(
        self,
        dst: LayerView,
        src: LayerView,
        dst_slots: Tensor,
        src_slots: Tensor,
        live: Tensor | None = None,
    ) -> None: ...


@dataclass(frozen=True)
class Ops:
    """The operations of the serving path. Shapes and meanings stand in the protocols above and in
    each operation's file.
    """

    store_latent: StoreLatent
    store_index_k: StoreIndexK
    indexer_logits: IndexerLogits
    topk_slots_v1: TopkSlots
    topk_slots_v2: TopkSlots
    sparse_attention: SparseAttention
    window_attention: WindowAttention
    page_digest: PageDigest
    page_copy: PageCopy
    token_copy: TokenCopy

    @classmethod
    def reference(cls) -> "Ops":
        """The torch implementations: what a CPU serves with, and what every kernel is tested
        against.
        """
        return cls(
            store_latent=store_latent_ref,
            store_index_k=store_index_k_ref,
            indexer_logits=indexer_logits_ref,
            topk_slots_v1=topk_slots_v1_ref,
            topk_slots_v2=topk_slots_v2_ref,
            sparse_attention=sparse_attention_ref,
            window_attention=window_attention_ref,
            page_digest=page_digest_ref,
            page_copy=page_copy_ref,
            token_copy=token_copy_ref,
        )

    @classmethod
    def triton(cls) -> "Ops":
        """The Triton kernels. Raises TritonMissing, one line, where Triton is not installed."""
        jit.require()
        return cls(
            store_latent=store_latent_triton,
            store_index_k=store_index_k_triton,
            indexer_logits=indexer_logits_triton,
            topk_slots_v1=topk_slots_v1_triton,
            topk_slots_v2=topk_slots_v2_triton,
            sparse_attention=sparse_attention_triton,
            window_attention=window_attention_triton,
            page_digest=page_digest_triton,
            page_copy=page_copy_triton,
            token_copy=token_copy_triton,
        )
