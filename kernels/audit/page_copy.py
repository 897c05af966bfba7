"""Copies of page rows, byte by byte, over the whole of the destination.

Rule: what was not asked for is compared too.
"""

from collections.abc import Iterable

import torch

from kernels import exact
from kernels.audit.check import Found, Setting, check
from kernels.audit.measure import bytes_differing
from kernels.cases import index_layout, latent_layout, noise, odd_layout
from kernels.layout import Order, PageLayout

KERNEL = "page_copy"
WHY = "a copy is right or wrong"
Pair = tuple[PageLayout, PageLayout]
POOL = 70


def copied(s: Setting, pairs: Iterable[Pair], counts: tuple[int, ...], pin: str = "") -> float:
    """Bytes differing after copies of so many pages out of a pool of noise into one of 0xFF; `pin`
    names the side that is page-locked host memory.
    """
    g, bad = s.numbers("page_copy"), 0.0
    for to, frm in pairs:
        source, target = noise(frm, POOL, g), to.allocate(POOL, fill=0xFF)
        for count in counts:
            want = target.clone()
            there = target.pin_memory() if pin == "dst" else target.to(s.device).clone()
            here = source.pin_memory() if pin == "src" else source.to(s.device)
            ids = [torch.randperm(POOL, generator=g)[:count] for _ in range(2)]
            s.ops.page_copy(to.by_page(there), frm.by_page(here), *s.put(*ids))
            if s.device != "cpu":
                torch.cuda.synchronize()
            width = min(to.page_bytes, frm.page_bytes)
            dst_pages, src_pages = (each.tolist() for each in ids)
            exact.copy_pages(to.by_page(want), frm.by_page(source), dst_pages, src_pages, width)
            bad += bytes_differing(there.cpu(), want)
    return bad


def found(inputs: str, bad: float) -> Found:
    """All that a copy is asked for."""
    return Found(inputs, {"bytes differing": bad}, {"bytes differing": 0.0}, WHY)


@check(KERNEL, "every pair of nestings")
def nestings(s: Setting) -> Found:
    """Pages in no order, between all orders in which layers and pages nest."""
    pairs = [(latent_layout(2, 3, to), latent_layout(2, 3, frm)) for to in Order for frm in Order]
    counts = (0, 1, s.size(5, 65))
    inputs = f"{POOL} pages of 3 layers, 9 pairs of nestings, {counts} pages in no order"
    return found(inputs, copied(s, pairs, counts))


@check(KERNEL, "rows that fit no word")
def odd_rows(s: Setting) -> Found:
    """Odd widths, and two sides whose rows differ: the shorter one decides."""
    pairs = [
        (odd_layout(), odd_layout(order=Order.PAGE_FIRST)),
        (odd_layout(), latent_layout(2, 3)),
        (index_layout("fp8", 2), index_layout("bf16", 2)),
        (index_layout("bf16", 2), index_layout("fp8", 2)),
    ]
    return found("rows of 80 bytes and of unequal sizes, 7 and 63 pages", copied(s, pairs, (7, 63)))


@check(KERNEL, "pinned host memory", only=("triton compiled",))
def pinned(s: Setting) -> Found:
    """Either side in host memory that the GPU addresses itself."""
    pairs = [(latent_layout(64, 3, to), latent_layout(64, 3, frm)) for to in Order for frm in Order]
    bad = sum(copied(s, pairs, (1, 65), pin) for pin in ("dst", "src"))
    return found(f"{POOL} pages of 3 layers, 9 pairs of nestings, each side on the host", bad)
