"""Digest of whole pages, bound to the position of every byte: swapping two rows inside a page
changes it.

Rule: integer arithmetic modulo 2**64 only, so one page has one digest on every device.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from dataclasses import dataclass

import torch
from torch import Tensor

from kernels.jit import jit, require, tl
from kernels.layout import LayerView
from kernels.units import units

GOLDEN, MIX = -7046029254386353131, -4658895280553007687  # odd 64-bit constants of splitmix64
WORD = 8
BLOCK_PAGES = 16


@dataclass(frozen=True)
class PageDigestPlan:
    """How digests are cut up: `parts` programs a page, whose sums add up, of `warps` warps; each
    reads `block` units (kernels.units) at a time.
    """

    block: int
    warps: int
    parts: int


def page_digest_plan(pages: int, page_bytes: int) -> PageDigestPlan:
    """How the digests of `pages` pages are cut up: few large pages would leave the GPU idle."""
    if pages < 512 and page_bytes >= 1 << 15:
        return PageDigestPlan(block=256, warps=4, parts=8)
    return PageDigestPlan(block=512, warps=4, parts=1)


def page_digest_ref(src: LayerView, pages: Tensor) -> Tensor:
    """int64 [N] digests of `pages` (int64 [N]) over all `page_bytes`, padding included; equal bytes
    give equal digests, whatever the page's index.
    """
    out = torch.empty(len(pages), dtype=torch.int64, device=pages.device)
    for i in range(0, len(pages), BLOCK_PAGES):
        part = slice(i, i + BLOCK_PAGES)
        out[part] = _digest(src.pages.index_select(0, pages[part]))
    return out


def _digest(rows: Tensor) -> Tensor:
    """Sum over 64-bit words of a mix of the word and its place; a short last word is padded."""
    spare = -rows.shape[1] % WORD
    words = torch.nn.functional.pad(rows, (0, spare)).view(torch.int64)
    place = torch.arange(1, words.shape[1] + 1, device=rows.device)
    # shifts are arithmetic: x ^ (x >> n) is still one to one, and Triton shifts int64 alike
    x = words + place * GOLDEN
    x = (x ^ (x >> 30)) * MIX
    return (x ^ (x >> 27)).sum(1)


@jit
def _page_digest_kernel(
    words, pages, out, w_page, WIDTH, GOLD: tl.constexpr, MIXER: tl.constexpr, PER: tl.constexpr,
    PARTS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i, part = tl.program_id(0) // PARTS, tl.program_id(0) % PARTS
    first = tl.load(pages + i).to(tl.int64) * w_page
    total = tl.zeros([BLOCK, PER], tl.int64)
    for start in range(part * BLOCK, WIDTH, PARTS * BLOCK):
        at = start + tl.arange(0, BLOCK)
        place, seen = at[:, None] * PER + tl.arange(0, PER)[None, :], (at < WIDTH)[:, None]
        word = tl.load(words + (first + at)[:, None] * PER + tl.arange(0, PER)[None, :], mask=seen)
        x = word + (place.to(tl.int64) + 1) * GOLD
        x = (x ^ (x >> 30)) * MIXER
        total += tl.where(seen, x ^ (x >> 27), 0)
    digest = tl.sum(tl.sum(total, axis=1), axis=0)
    if PARTS == 1:
        tl.store(out + i, digest)
    else:
        tl.atomic_add(out + i, digest, sem="relaxed")


def page_digest_triton(src: LayerView, pages: Tensor, plan: PageDigestPlan | None = None) -> Tensor:
    """`page_digest_ref` as one program a page, or several that add up. Raises ValueError if pages
    are not whole words.
    """
    require()
    if src.layout.page_bytes % WORD:
        raise ValueError(f"page of {src.layout.page_bytes} bytes: the kernel reads 8-byte words")
    plan = plan or page_digest_plan(len(pages), src.layout.page_bytes)
    new = torch.empty if plan.parts == 1 else torch.zeros
    out = new(len(pages), dtype=torch.int64, device=pages.device)
    (rows,) = units(src.pages[:, None])
    pages = pages.contiguous()
    if len(pages) > 0:
        _page_digest_kernel[(len(pages) * plan.parts,)](
            rows.words.view(torch.int64), pages, out, rows.strides[0], rows.width, GOLDEN, MIX,
            rows.per, plan.parts, plan.block, num_warps=plan.warps,
        )  # fmt: skip
    return out
