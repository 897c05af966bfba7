"""Copies of whole page rows: page i of one pool's layers to page j of another's, byte for byte.

Rule: each side is addressed by its own strides, and a row is as long as the shorter of the two.
"""
# mypy: allow-untyped-defs, allow-incomplete-defs

from torch import Tensor


def page_copy_ref(dst: Tensor, src: Tensor, dst_pages: Tensor, src_pages: Tensor) -> None:
    """Copies `src_pages` of `src` to `dst_pages` of `dst` (int64 [N], no page twice in
    `dst_pages`), every layer. Both sides are uint8 `[page, layer, bytes]` views, strided over pages
    and layers; they may lie on different devices. Raises ValueError if their layers differ.
    """
    if dst.shape[1] != src.shape[1]:
        raise ValueError(f"{src.shape[1]} layers to {dst.shape[1]}")
    width = min(dst.shape[2], src.shape[2])
    rows = src[:, :, :width].index_select(0, src_pages.to(src.device))
    dst[:, :, :width].index_copy_(0, dst_pages.to(dst.device), rows.to(dst.device))


def page_copy_triton(dst: Tensor, src: Tensor, dst_pages: Tensor, src_pages: Tensor) -> None:
    """`page_copy_ref` as one program a block of a row."""
    raise NotImplementedError
