"""The store of index keys, byte by byte: both formats, any row, and nothing where a row is dead.

Rule: the whole buffer is compared, other layers and padding included.
"""

import torch
from torch import Tensor

from kernels import exact
from kernels.audit.check import Found, Setting, check, poisoned
from kernels.audit.measure import bytes_differing, codes_differing
from kernels.cases import INDEX_K, index_layout
from kernels.layout import Order

KERNEL = "store_index_k"
LAYERS = 3
WHY = "a format has one right byte: the quotient's float32, then the nearest code"


def store_inputs(rows: int, width: int, pages: int, g: torch.Generator) -> list[Tensor]:
    """(rows of very different sizes, distinct slots with one 0 and one -1 from four rows on, who is
    live) of a pool of `pages` pages of 64.
    """
    sizes = torch.randn(rows, 1, generator=g).mul(4).exp()
    data = torch.randn(rows, width, generator=g) * sizes
    slots = torch.randperm(pages * 64 - 1, generator=g)[:rows] + 1
    live = torch.rand(rows, generator=g) < 0.75
    if rows > 3:
        slots[0], slots[1] = 0, -1
        live[:3] = True
    return [data, slots, live]


def edge_rows(width: int) -> Tensor:
    """float32 rows at the edges of the formats: zeros of both signs, NaN in one place and in all,
    infinities, subnormals, absmax beside the least that counts, the largest number, and quotients
    that lie halfway between two codes.
    """
    ramp = torch.linspace(-1.0, 1.0, width)
    halves = torch.tensor([1.0625, 1.1875, 17.0, 2.0**-10, 3 * 2.0**-10, 2.0**-7 * 1.0625])
    rows = [ramp * 0.0, -ramp.abs() * 0.0, ramp.clone(), torch.full((width,), torch.nan)]
    rows[2][5] = torch.nan
    for lane, value in ((3, torch.inf), (7, -torch.inf), (9, 3.4028234663852886e38)):
        rows.append(ramp.clone())
        rows[-1][lane] = value
    rows += [ramp * 1e-40, ramp * 1e-4, ramp * 0.99e-4, ramp * 1.01e-4, ramp * 3.4e38]
    tied = halves.repeat(-(-width // 6))[:width] * torch.where(ramp < 0, -1.0, 1.0)
    for group in range(0, width, 64):
        tied[group] = 448.0  # so that the scale is one
    return torch.stack([*rows, tied, tied * 2.0**-3, ramp * 448.0])


@check(KERNEL, "random rows")
def random_rows(s: Setting) -> Found:
    """Every byte of a pool whose pages lie apart, and the slots that were said to be written."""
    g, measured = s.numbers("store_index_k"), dict[str, float]()
    for dtype in INDEX_K:
        layout = index_layout(dtype, LAYERS, Order.PAGE_FIRST)
        bad = wrong = 0.0
        for rows in (0, 1, 63, 64, 65, s.size(65, 8_192)):
            pages = 2 + rows // 48
            key, slots, live = s.put(*store_inputs(rows, 128, pages, g))
            got = s.pool(layout, pages, 0x5A)
            want = got.clone()
            with poisoned():
                wrote = s.ops.store_index_k(layout.layer(got, 1), key, slots, live)
            said = exact.store_index_k(layout.layer(want, 1), key, slots, live)
            bad += bytes_differing(got, want)
            wrong += float((wrote != said).sum())
        measured |= {f"{dtype} bytes differing": bad, f"{dtype} slots differing": wrong}
    sizes = f"0, 1, 63, 64, 65 and {s.size(65, 8_192)} rows"
    inputs = f"{sizes}, sizes over nine decades, a quarter dead, slots 0 and -1 among them"
    return Found(inputs, measured, dict.fromkeys(measured, 0.0), WHY)


@check(KERNEL, "edges of the formats")
def edges(s: Setting) -> Found:
    """Rows at which a format saturates, rounds, vanishes or is no number."""
    (key,), measured = s.put(edge_rows(128)), dict[str, float]()
    slots, live = s.put(1 + torch.arange(len(key)), torch.ones(len(key), dtype=torch.bool))
    for dtype in INDEX_K:
        layout = index_layout(dtype)
        got, want = (layout.layer(s.pool(layout, 1, 0x5A), 0) for _ in range(2))
        s.ops.store_index_k(got, key, slots, live)
        exact.store_index_k(want, key, slots, live)
        measured[f"{dtype} numbers differing"] = sum(
            codes_differing(got.plane(plane.name), want.plane(plane.name))
            for plane in layout.planes
        )
    inputs = (
        f"{len(key)} rows: zeros of both signs, NaN, infinities, subnormals, absmax beside 1e-4, "
        "the largest float32, quotients halfway between codes"
    )
    return Found(inputs, measured, dict.fromkeys(measured, 0.0), WHY + "; NaN is one number")


@check(KERNEL, "rows that write nothing")
def dead_rows(s: Setting) -> Found:
    """Rows that are not live or have no slot leave the pool as it was, and say so."""
    g, measured = s.numbers("store_index_k dead"), dict[str, float]()
    for dtype in INDEX_K:
        layout = index_layout(dtype)
        key, slots, _ = store_inputs(65, 128, 2, g)
        live = torch.arange(65) % 2 == 0
        slots = torch.where(live, torch.where(slots % 3 > 0, -1, 0), slots)
        key[3:9] = torch.nan
        got = s.pool(layout, 2, 0x5A)
        with poisoned():
            wrote = s.ops.store_index_k(layout.layer(got, 0), *s.put(key, slots, live))
        measured[f"{dtype} bytes written"] = float((got != 0x5A).sum())
        measured[f"{dtype} rows said to be"] = float((wrote != -1).sum())
    inputs = "65 rows, each dead or with a slot of 0 or -1, some of them NaN"
    return Found(inputs, measured, dict.fromkeys(measured, 0.0), "a dead row has no place")
