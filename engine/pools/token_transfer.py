"""Copies of single tokens between a device pool and its mirror on the host.

One rule: where a token's bytes lie is asked of each side's own layout, plane by plane.

This is the byte-wise copy by ``contiguous_token_bytes`` that repairs SGLang's dormant
``transfer_cache_dsv4_mla``: how many bytes of a token lie together, plane by plane, in the place of
constants that are c4's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from torch import Tensor

    from kernels.layout import LayerView
    from kernels.ops import Ops


class TokenTransfer(Protocol):
    """Seam ``token_transfer``: which bytes are a token's, on either side of a copy?

    Asked wherever a copy is not of whole pages; those go by page rows and never come here.
    """

    def __init__(self, ops: Ops) -> None: ...

    def copy(
        self,
        dst: LayerView,
        src: LayerView,
        dst_slots: Tensor,
        src_slots: Tensor,
        live: Tensor | None = None,
    ) -> None:
        """Copy the tokens ``src_slots`` of one layer to ``dst_slots``, int64 [N], all >= 0.

        ``live`` bool [N] leaves out the rows that are False.
        """
        ...


class ByLayout:
    """Every plane's row of a token, where each side's layout has it: a token's bytes as a whole."""

    def __init__(self, ops: Ops) -> None:
        self.ops = ops

    def copy(
        self,
        dst: LayerView,
        src: LayerView,
        dst_slots: Tensor,
        src_slots: Tensor,
        live: Tensor | None = None,
    ) -> None:
        """Copy the tokens, whatever pool, dtype and layout they are of."""
        self.ops.token_copy(dst, src, dst_slots, src_slots, live)
