"""Digests of pages beside Python's integers, and what must change one.

Rule: a digest binds every byte to its place, the padding included, and nothing else.
"""

import torch

from kernels import exact
from kernels.audit.check import Found, Setting, check, poisoned
from kernels.cases import INDEX_K, index_layout, latent_layout, noise
from kernels.layout import LayerView, Order

KERNEL = "page_digest"
LAYOUTS = (
    latent_layout(2),
    latent_layout(64, 3, Order.PAGE_FIRST),
    *(index_layout(dtype) for dtype in INDEX_K),
)
WHY = "integers modulo 2**64 are right or wrong"


def random_pool(s: Setting, n: int, pages: int) -> LayerView:
    """The last layer of a pool of random bytes of the n-th layout."""
    layout = LAYOUTS[n]
    buffer = noise(layout, pages, s.numbers(f"page_digest {n}")).to(s.device)
    return layout.layer(buffer, layout.layers - 1)


@check(KERNEL, "random pages")
def random_pages(s: Setting) -> Found:
    """Pages in no order, one of them twice, one all zeros and one all ones."""
    bad = 0.0
    for n in range(len(LAYOUTS)):
        view = random_pool(s, n, 5)
        view.pages[3], view.pages[4] = 0, 0xFF
        pages = torch.tensor([2, 4, 0, 3, 2, 1])
        with poisoned():
            got = s.ops.page_digest(view, *s.put(pages)).tolist()
        want = [exact.page_digest(view.pages[page]) for page in pages.tolist()]
        bad += sum(mine != right for mine, right in zip(got, want, strict=True))
    inputs = f"{len(LAYOUTS)} layouts, 6 pages each in no order: noise, zeros, ones, one twice"
    return Found(inputs, {"digests differing": bad}, {"digests differing": 0.0}, WHY)


@check(KERNEL, "flipped bits and swapped rows")
def flips(s: Setting) -> Found:
    """One bit anywhere, first byte to last, and two rows that change places."""
    same = 0.0
    for n, layout in enumerate(LAYOUTS):
        view, last = random_pool(s, n, 3), layout.page_bytes - 1
        page = torch.tensor([1], device=s.device)
        before = int(s.ops.page_digest(view, page))
        for byte in (0, 7, 8, last // 2, last - 7, last):
            for bit in (1, 128):
                view.pages[1, byte] ^= bit
                same += int(s.ops.page_digest(view, page)) == before
                view.pages[1, byte] ^= bit
        rows = view.rows("value")[1]
        rows[[0, 1]] = rows[[1, 0]]
        same += int(s.ops.page_digest(view, page)) == before
    inputs = f"{len(LAYOUTS)} layouts: a bit of 6 bytes flipped, two rows of a page swapped"
    return Found(inputs, {"changes not seen": same}, {"changes not seen": 0.0}, WHY)
