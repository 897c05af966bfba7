"""Addresses beyond 32 bits: rows of logits at a context of 1M tokens, and pools of many GiB.

Rule: what lies at an address is compared with the same at a small one, and nothing else changed.
"""

import inspect

import torch
from torch import Tensor

from kernels import exact
from kernels.audit.check import Found, Implementation, Setting, check, poisoned
from kernels.audit.far import Far, zeros
from kernels.audit.indexer_logits import index_pool
from kernels.audit.measure import FLOAT32, apart, bytes_differing
from kernels.cases import index_layout, latent_layout
from kernels.defects.int32_logits_offset import row_offset
from kernels.layout import LayerView, PageLayout
from kernels.ops import Segment

KERNELS: tuple[Implementation, ...] = ("triton interpreted", "triton compiled")
HALF = 1 << 31
ROW, ROWS = 262_144, 8_195  # 1,048,576 tokens are 262,144 entries
FEW = 3, (1 << 30) + 64  # rows, and entries from one to the next: a width itself fits 32 bits
UNITS = 40  # GiB: the copies and digests count units of 16 bytes, which pass 2**31 at 32
WHY = "an address is right or wrong"


@check("indexer_logits", "rows x width beyond 32 bits", only=KERNELS, part="addressing")
def logits_rows(s: Setting) -> Found:
    """Logits into rows whose product with the width passes 2**31; interpreted into three of them,
    in memory that is taken where it is touched. Products of int32 would lie up to 2**31 entries
    before the first row, and there is room for them.
    """
    rows, stride = (ROWS, ROW) if s.large else FEW
    g, (src, heads) = s.numbers("addressing"), (index_pool(s, "bf16", 9, s.numbers("keys")), 2)
    given = s.put(
        torch.randn(rows, heads, 128, generator=g),
        torch.randn(rows, heads, generator=g),
        torch.randint(1, 9, (rows, 2), generator=g, dtype=torch.int32),
        torch.full((rows,), 100, dtype=torch.int32),
    )
    buffer = zeros(s, 1, 4 * (HALF + rows * stride))[0].view(torch.float32)
    out = buffer[HALF:].view(rows, stride)[:, :128]
    into(s, src, given, out)
    last = slice(max(0, rows - 40), rows)
    want, size = exact.indexer_logits(src, *(each[last] for each in given))
    got = out[last].clone()
    out.zero_()
    places = [HALF + row_offset(row, stride) for row in range(rows)]
    parts = buffer.split(1 << 28) if s.large else [buffer[at : at + 128] for at in places]
    measured = {
        "error / terms": apart(got[:, :100], want[:, :100], size[:, :100]),
        "entries outside": float(sum(int(part.count_nonzero()) for part in parts)),
    }
    beyond = rows - -(-HALF // stride)
    inputs = f"{rows:,} rows {stride:,} entries apart, {beyond} of them beyond 2**31: the last "
    inputs += f"begins at {(rows - 1) * stride:,}"
    bound = dict.fromkeys(measured, 0.0) | {"error / terms": (128 + heads) * FLOAT32}
    return Found(inputs, measured, bound, WHY)


def into(s: Setting, src: LayerView, given: list[Tensor], out: Tensor) -> None:
    """Logits into `out`; by the operation itself where it takes one."""
    operation = s.ops.indexer_logits
    if "out" in inspect.signature(operation).parameters:
        operation(src, *given, out=out)  # type: ignore[call-arg]
    else:
        out.copy_(operation(src, *given))


def far_noise(s: Setting, layout: PageLayout) -> Far:
    """A pool large in units of 16 bytes, whose far pages and near twins hold random bytes."""
    far, g = Far.of(s, layout, UNITS), s.numbers("far")
    noise = torch.randint(0, 256, far.near.pages.shape, generator=g, dtype=torch.uint8)
    far.fill(*s.put(noise))
    return far


def found(far: Far, measured: dict[str, float], unit: int = 1) -> Found:
    """What every operation on a large pool is asked for; `unit` is in what the kernel counts."""
    inputs = f"{len(far.ids)} pages beside 2**31 bytes and at the end of a pool of {far.gib}"
    inputs += f"; {far.largest(unit)}" if unit > 1 else ""
    most = {"error": 2.0**-19, "bf16 error": 2.0**-8}
    bound = {name: most.get(name, 0.0) for name in measured}
    return Found(inputs, measured, bound, WHY)


@check("store_index_k", "pool beyond 2 GiB", part="addressing")
def store_index_k(s: Setting) -> Found:
    """Rows stored into far pages, in both formats."""
    g, measured = s.numbers("far index"), dict[str, float]()
    for dtype in ("fp8", "bf16"):
        far = Far.of(s, index_layout(dtype))
        at, near = far.slots()
        key, live = s.put(torch.randn(len(at), 128, generator=g), torch.ones(len(at)) > 0)
        s.ops.store_index_k(far.view, key, at, live)
        exact.store_index_k(far.near, key, near, live)
        bad = bytes_differing(far.view.pages[far.ids], far.near.pages)
        measured |= {f"{dtype} bytes differing": bad, f"{dtype} elsewhere": far.elsewhere()}
    return found(far, measured)


@check("store_latent", "pool beyond 2 GiB", part="addressing")
def store_latent(s: Setting) -> Found:
    """Rows stored into far pages."""
    far, g = Far.of(s, latent_layout(64, 1)), s.numbers("far latent")
    at, near = far.slots()
    latent, live = s.put(torch.randn(len(at), 512, generator=g), torch.ones(len(at)) > 0)
    s.ops.store_latent(far.view, latent, at, live)
    exact.store_latent(far.near, latent, near, live)
    bad = bytes_differing(far.view.pages[far.ids], far.near.pages)
    return found(far, {"bytes differing": bad, "elsewhere": far.elsewhere()})


@check("indexer_logits", "pool beyond 2 GiB", part="addressing")
def indexer_logits(s: Setting) -> Found:
    """Logits of keys in far pages, in both formats."""
    g, measured = s.numbers("far logits"), {"error": 0.0}
    for dtype in ("fp8", "bf16"):
        far = Far.of(s, index_layout(dtype))
        at, near = far.slots()
        key, live = s.put(torch.randn(len(at), 128, generator=g), torch.ones(len(at)) > 0)
        exact.store_index_k(far.near, key, near, live)
        far.view.pages[far.ids] = far.near.pages
        pages = torch.arange(1, len(far.ids), device=s.device)
        q, weight, lens = s.put(
            torch.randn(1, 2, 128, generator=g),
            torch.randn(1, 2, generator=g),
            torch.tensor([len(pages) * 64 - 1], dtype=torch.int32),
        )
        got = s.ops.indexer_logits(far.view, q, weight, far.ids[pages][None].int(), lens)
        want, size = exact.indexer_logits(far.near, q, weight, pages[None], lens)
        measured["error"] = max(measured["error"], apart(got[:, :-1], want[:, :-1], size[:, :-1]))
    return found(far, measured)


@check("sparse_attention", "pool beyond 2 GiB", part="addressing")
def sparse_attention(s: Setting) -> Found:
    """Attention over latents in far pages."""
    far, g = Far.of(s, latent_layout(64, 1)), s.numbers("far attention")
    at, near = far.slots()
    latent, live = s.put(torch.randn(len(at), 512, generator=g), torch.ones(len(at)) > 0)
    exact.store_latent(far.near, latent, near, live)
    far.view.pages[far.ids] = far.near.pages
    q, bias, sink = s.put(
        torch.randn(1, 2, 512, generator=g) / 20, torch.zeros(2, 1), torch.zeros(2)
    )
    want, _ = exact.sparse_attention(q, (Segment(far.near, near[None, ::3]),), bias, sink)
    part, largest = Segment(far.view, at[None, ::3].int()), float(latent.abs().amax())
    got, _ = s.ops.sparse_attention(q, (part,), bias, sink)
    short, _ = s.ops.sparse_attention(q.bfloat16(), (part,), bias, sink)
    errors = {"error": apart(got, want, largest), "bf16 error": apart(short, want, largest)}
    return found(far, errors)


@check("page_copy", "pool beyond 2 GiB", part="addressing")
def page_copy(s: Setting) -> Found:
    """Pages copied out of far pages, and into them."""
    layout = latent_layout(64, 1)
    far = far_noise(s, layout)
    small = layout.allocate(len(far.ids), s.device)
    all_of_them, (big, there) = torch.arange(len(far.ids), device=s.device), _both(far, small)
    s.ops.page_copy(there, big, all_of_them, far.ids)
    out = bytes_differing(there[:, 0], far.near.pages)
    far.fill(far.near.pages.flip(0).clone())
    there[:, 0] = far.near.pages
    far.view.pages[far.ids] = 0
    s.ops.page_copy(big, there, far.ids, all_of_them)
    back = bytes_differing(far.view.pages[far.ids], far.near.pages)
    return found(far, {"bytes differing": out + back, "elsewhere": far.elsewhere()}, 16)


def _both(far: Far, small: Tensor) -> tuple[Tensor, Tensor]:
    """Both sides of a page copy: the large pool, and a small buffer of the same layout."""
    return far.view.pages[:, None], far.view.layout.by_page(small)


@check("token_copy", "pool beyond 2 GiB", part="addressing")
def token_copy(s: Setting) -> Found:
    """Tokens copied out of far pages, and into them."""
    far = far_noise(s, index_layout("fp8"))
    at, near = far.slots()
    layout = far.view.layout
    there = layout.layer(layout.allocate(len(far.ids), s.device), 0)
    s.ops.token_copy(there, far.view, near, at)
    out = bytes_differing(there.pages[1:], far.near.pages[1:])
    far.view.pages[far.ids[1:]] = 0
    s.ops.token_copy(far.view, far.near, at, near)
    back = bytes_differing(far.view.pages[far.ids], far.near.pages)
    return found(far, {"bytes differing": out + back, "elsewhere": far.elsewhere()}, 16)


@check("page_digest", "pool beyond 2 GiB", part="addressing")
def page_digest(s: Setting) -> Found:
    """Digests of far pages."""
    far = far_noise(s, index_layout("fp8"))
    with poisoned():
        got = s.ops.page_digest(far.view, far.ids)
    want = [exact.page_digest(page) for page in far.near.pages]
    wrong = sum(mine != right for mine, right in zip(got.tolist(), want, strict=True))
    return found(far, {"digests differing": float(wrong)}, 16)
