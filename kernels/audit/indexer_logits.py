"""Indexer logits beside float64: rows of every length, pages in no order and shared, whatever a
table holds beyond a row's end, and numbers at the edges of the key formats.

Rule: distances are in units of the row's own terms, the sum of all absolute products.
"""

import torch
from torch import Tensor

from kernels import exact
from kernels.audit.check import Found, Setting, check, poisoned
from kernels.audit.measure import FLOAT32, apart, relative_l2
from kernels.cases import INDEX_K, index_layout, page_table
from kernels.layout import LayerView

KERNEL = "indexer_logits"
GARBAGE = (-1, 2**31 - 1, -(2**31))  # what a page table may hold where a row has ended

SMALL = ((7, 1), (7, 3), (7, 5))  # rows x pages
LARGE = ((64, 63), (64, 64), (64, 65), (64, 257), (4, 2049), (1, 4097))


def index_pool(s: Setting, dtype: str, pages: int, g: torch.Generator) -> LayerView:
    """A pool of random keys whose page 0 reads as NaN, written by the exact store."""
    layout = index_layout(dtype)
    view = layout.layer(layout.allocate(pages, fill=0xFF), 0)
    slots = torch.arange(64, pages * 64)
    live = torch.ones(len(slots), dtype=torch.bool)
    exact.store_index_k(view, torch.randn(len(slots), 128, generator=g), slots, live)
    return s.there(view)


def ragged(rows: int, width: int, pages: int, g: torch.Generator) -> tuple[Tensor, Tensor]:
    """(page table int32 [rows, width], lens int32 [rows]): lengths all, 0, half and one, 65, 64,
    63, 1, then any; pages out of order, every second row sharing a prefix; garbage beyond each
    row's end.
    """
    table = page_table(rows, pages, width, width // 2, g)
    lens = torch.randint(0, width * 64 + 1, (rows,), generator=g, dtype=torch.int32)
    known = torch.tensor([width * 64, 0, width * 32 + 1, 65, 64, 63, 1], dtype=torch.int32)
    lens[: len(known)] = known[:rows].clamp(max=width * 64)
    past = torch.arange(width) * 64 >= lens[:, None]
    junk = torch.tensor(GARBAGE, dtype=torch.int32)[torch.arange(width) % len(GARBAGE)]
    return torch.where(past, junk, table), lens


def compared(s: Setting, src: LayerView, *given: Tensor) -> dict[str, float]:
    """How far the operation is from the exact sums, and how many entries past a row's end are not
    -inf; `given` as the operation takes them.
    """
    with poisoned():
        got = s.ops.indexer_logits(src, *given)
    want, size = exact.indexer_logits(src, *given)
    past = torch.arange(want.shape[1], device=s.device) >= given[3][:, None]
    return {
        "error / terms": apart(torch.where(past, 0.0, got), torch.where(past, 0.0, want), size),
        "relative l2": relative_l2(got, want),
        "ends not -inf": float((got[past] != -torch.inf).sum()),
    }


def bounds(measured: dict[str, float], heads: int) -> dict[str, float]:
    """What float32 sums of 128 terms, `heads` times, may be off by."""
    of = {"terms": (128 + heads) * FLOAT32, "l2": 5e-6, "-inf": 0.0}
    return {name: of[name.split()[-1]] for name in measured}


# (keys, q): most that an error may be of the terms, and of the norm. Products of bfloat16 are exact
# in float32, but matrix units cut off where they add; of e4m3 they keep fourteen bits of a sum
SERVED = {
    ("fp8", torch.bfloat16): (2.0**-20, 1e-5),
    ("bf16", torch.bfloat16): (2.0**-20, 1e-5),
    ("bf16", torch.float8_e4m3fn): (2.0**-20, 1e-5),
    ("fp8", torch.float8_e4m3fn): (2.0**-11, 2e-3),
}
SHORT = {torch.bfloat16: "bf16", torch.float8_e4m3fn: "fp8"}
WHY = "worst case of float32 sums of 128 + heads terms; l2 far under the 3e-4 of tf32"


@check(KERNEL, "ragged rows")
def ragged_rows(s: Setting) -> Found:
    """Rows of any length at widths beside powers of two."""
    g, measured = s.numbers("indexer_logits"), dict[str, float]()
    heads = s.size(3, 64)
    shapes = LARGE if s.large else SMALL
    for dtype in INDEX_K:
        src = index_pool(s, dtype, s.size(12, 512), g)
        for rows, width in shapes:
            table, lens = ragged(rows, width, len(src.pages), g)
            q = torch.randn(rows, heads, 128, generator=g)
            weight = torch.randn(rows, heads, generator=g)
            for name, number in compared(s, src, *s.put(q, weight, table, lens)).items():
                key = f"{dtype} {name}"
                measured[key] = max(measured.get(key, 0.0), number)
    inputs = (
        f"{', '.join(f'{rows} x {width}' for rows, width in shapes)} rows x pages, {heads} heads: "
        "0, 1, 63, 64, 65, all and any number of entries; shared prefixes, page 0 NaN, garbage "
        "past the end"
    )
    return Found(inputs, measured, bounds(measured, heads), WHY)


@check(KERNEL, "numbers at the edges")
def edges(s: Setting) -> Found:
    """Keys that are NaN, infinite, subnormal, minus zero or saturated, dead ones beside them."""
    g, measured = s.numbers("indexer_logits edges"), dict[str, float]()
    for dtype in INDEX_K:
        src = index_pool(s, dtype, 9, g)
        value, codes = src.plane("value"), src.rows("value")
        codes[1, 5, :3] = 0xFF  # NaN, in both formats
        codes[2, 6] = 0x80 if dtype == "fp8" else 0x00
        codes[3, 7, :64] = 0x01  # the least subnormal, in fp8
        codes[5, 9] = 0x7F  # NaN; past the end of the row that has this page
        if dtype == "fp8":
            codes[4, 8] = 0x7E
            src.plane("scale")[6, 3], src.plane("scale")[6, 4] = 1e-38, 1e30
        else:
            value[4, 8], value[6, 3], value[6, 4] = 448.0, torch.inf, 1e30
            value[7, 1, 17], value[7, 2, 99] = torch.inf, -torch.inf
        table = torch.tensor([[1, 2, 3], [4, 6, 5], [7, 8, 7], [1, 8, 8]], dtype=torch.int32)
        lens = torch.tensor([192, 137, 130, 5], dtype=torch.int32)
        q, weight = torch.randn(4, 3, 128, generator=g), torch.randn(4, 3, generator=g)
        q[2, 0], weight[2, 1] = 0.0, 0.0
        for name, number in compared(s, src, *s.put(q, weight, table, lens)).items():
            measured[f"{dtype} {name}"] = number
    inputs = (
        "4 rows of 3 heads: keys of NaN codes, subnormal codes, minus zeros, 448 throughout, "
        "scales of 1e-38 and 1e30, infinity in all lanes and in one of bf16 keys; a NaN just past "
        "the end of two rows"
    )
    return Found(inputs, measured, bounds(measured, 3), WHY + "; NaN and infinity where exact")


@check(KERNEL, "queries of production")
def served(s: Setting) -> Found:
    """Queries in bfloat16 and e4m3, as they are served, on keys of both formats."""
    g, measured, bound = s.numbers("indexer_logits served"), dict[str, float](), dict[str, float]()
    rows, heads, width = s.size(7, 64), s.size(3, 64), s.size(3, 257)
    for (dtype, q_dtype), (terms, l2) in SERVED.items():
        src = index_pool(s, dtype, s.size(12, 512), g)
        table, lens = ragged(rows, width, len(src.pages), g)
        q = torch.randn(rows, heads, 128, generator=g).to(q_dtype)
        given = s.put(q, torch.randn(rows, heads, generator=g), table, lens)
        for name, number in compared(s, src, *given).items():
            key = f"{SHORT[q_dtype]} x {dtype} {name}"
            measured[key] = number
            bound[key] = {"terms": terms, "l2": l2, "-inf": 0.0}[name.split()[-1]]
    inputs = f"{rows} rows of {heads} heads, {width} pages wide; q x keys in both dtypes"
    why = (
        "products of bf16 are exact, sums are cut off in float32; fp8 x fp8 keeps 14 bits of a sum"
    )
    return Found(inputs, measured, bound, why)
