"""Copies of single tokens, byte by byte, over the whole of the destination.

Rule: what was not asked for is compared too.
"""

import torch

from kernels import exact
from kernels.audit.check import Found, Setting, check
from kernels.audit.measure import bytes_differing
from kernels.cases import INDEX_K, index_layout, latent_layout, noise, odd_layout
from kernels.layout import Order, PageLayout

KERNEL = "token_copy"
WHY = "a copy is right or wrong"
POOL = 5
PAIRS = (
    (latent_layout(64), latent_layout(256)),
    (latent_layout(2), latent_layout(64, 3, Order.PAGE_FIRST)),
    *((index_layout(dtype), index_layout(dtype, 2)) for dtype in INDEX_K),
    (odd_layout(40), odd_layout(17, order=Order.PAGE_FIRST)),
)


def copied(s: Setting, to: PageLayout, frm: PageLayout, rows: int, some: bool) -> float:
    """Bytes differing after a copy of `rows` tokens; where `some`, every third is dead and its
    slots lie nowhere.
    """
    g = s.numbers("token_copy")
    source, target = noise(frm, POOL, g), to.allocate(POOL, fill=0xFF)
    want, there = target.clone(), target.to(s.device).clone()
    tokens = [POOL * layout.page_tokens for layout in (to, frm)]
    rows = min(rows, *tokens)
    into, out_of = (torch.randperm(n, generator=g)[:rows] for n in tokens)
    live = torch.arange(rows) % 3 > 0 if some else torch.ones(rows, dtype=torch.bool)
    lists = into[live].tolist(), out_of[live].tolist()
    exact.copy_tokens(to.layer(want, 1 % to.layers), frm.layer(source, 0), *lists)
    into[~live], out_of[~live] = 1 << 40, -1
    views = to.layer(there, 1 % to.layers), frm.layer(source.to(s.device), 0)
    dst_slots, src_slots, mask = s.put(into, out_of, live)
    s.ops.token_copy(*views, dst_slots, src_slots, mask if some else None)
    return bytes_differing(there.cpu(), want)


@check(KERNEL, "every plane of a token")
def planes(s: Setting) -> Found:
    """Tokens in no order between pools of other page sizes, strides and dtypes."""
    counts = (0, 1, 63, 64, 65, s.size(65, 320))
    bad = sum(copied(s, *pair, rows, some=False) for pair in PAIRS for rows in counts)
    inputs = f"{len(PAIRS)} pairs of pools whose pages and strides differ, {counts} tokens"
    return Found(inputs, {"bytes differing": bad}, {"bytes differing": 0.0}, WHY)


@check(KERNEL, "dead tokens")
def dead(s: Setting) -> Found:
    """Rows that are not live, whose slots lie nowhere, move nothing."""
    bad = sum(copied(s, *pair, 65, some=True) for pair in PAIRS)
    inputs = "65 tokens, every third dead with slots of 2**40 and -1"
    return Found(inputs, {"bytes differing": bad}, {"bytes differing": 0.0}, WHY)
