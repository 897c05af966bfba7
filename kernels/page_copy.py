"""Copies of whole page rows: page i of one pool's layers to page j of another's, byte for byte.

Rule: each side is addressed by its own strides, and a row is as long as the shorter of the two.
"""
# mypy: allow-untyped-defs, allow-incomplete-defs

from torch import Tensor

from kernels.jit import jit, require, tl
from kernels.layout import widest_word

BLOCK = 1024


def page_copy_ref(dst: Tensor, src: Tensor, dst_pages: Tensor, src_pages: Tensor) -> None:
    """Copies `src_pages` of `src` to `dst_pages` of `dst` (int64 [N], in range), every layer.

    Both sides are uint8 `[page, layer, bytes]` views, strided over pages and layers, on any device.
    No page twice in `dst_pages`, none of them a source too. Raises ValueError if layers or counts
    differ.
    """
    to, frm = _same_rows(dst, src, dst_pages, src_pages)
    if to.device.type == frm.device.type == "cpu":
        _copy_rows(to, frm, dst_pages.tolist(), src_pages.tolist())
        return
    rows = frm.index_select(0, src_pages.to(frm.device))
    to.index_copy_(0, dst_pages.to(to.device), rows.to(to.device))


def _same_rows(dst: Tensor, src: Tensor, dst_pages: Tensor, src_pages: Tensor) -> list[Tensor]:
    if dst.shape[1] != src.shape[1]:
        raise ValueError(f"a page of {src.shape[1]} layers cannot go to one of {dst.shape[1]}")
    if len(dst_pages) != len(src_pages):
        raise ValueError(f"{len(src_pages)} pages cannot go to {len(dst_pages)}")
    width = min(dst.shape[2], src.shape[2])
    return [side[:, :, :width] for side in (dst, src)]


def _copy_rows(dst: Tensor, src: Tensor, dst_pages: list[int], src_pages: list[int]) -> None:
    # numpy's assignment is a memcpy a row and half a microsecond a page; torch's index_select and
    # index_copy_ move a tenth to a half of its bytes a second, Tensor.copy_ as many on large rows
    to, frm = dst.numpy(), src.numpy()
    for i, j in zip(dst_pages, src_pages, strict=True):
        to[i] = frm[j]


@jit
def _page_copy_kernel(
    dst, src, dst_pages, src_pages, d_page, d_layer, s_page, s_layer, WORDS,
    BLOCK: tl.constexpr,
):  # fmt: skip
    i, layer = tl.program_id(0), tl.program_id(1).to(tl.int64)
    # int64 before the multiply: page * stride passes 2**31 on a pool of a few GiB
    to = tl.load(dst_pages + i).to(tl.int64) * d_page + layer * d_layer
    frm = tl.load(src_pages + i).to(tl.int64) * s_page + layer * s_layer
    col = tl.program_id(2) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(src + frm + col, mask=col < WORDS)
    tl.store(dst + to + col, row, mask=col < WORDS)


def page_copy_triton(dst: Tensor, src: Tensor, dst_pages: Tensor, src_pages: Tensor) -> None:
    """`page_copy_ref` as one program a block of a row; either side may be pinned host memory, which
    the GPU addresses itself.
    """
    require()
    to, frm = _same_rows(dst, src, dst_pages, src_pages)
    if 0 in (len(dst_pages), *to.shape[1:]):
        return
    word = widest_word(to, frm)
    to, frm = to.view(word), frm.view(word)
    device, words = (dst if dst.is_cuda else src).device, to.shape[2]
    _page_copy_kernel[(len(dst_pages), to.shape[1], -(-words // BLOCK))](
        to, frm, dst_pages.to(device), src_pages.to(device),
        *to.stride()[:2], *frm.stride()[:2], words, BLOCK,
    )  # fmt: skip
