"""What the stores of rows share: how many rows a program takes, which of them it may write, and
where.

Rule: a row that is not live, or whose slot is 0 or less, has no place.
"""
# mypy: allow-untyped-defs, allow-incomplete-defs

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from kernels.jit import jit, overlaps, tl

Start = Literal["alone", "overlapped", "ahead", "early"]


@dataclass(frozen=True)
class StorePlan:
    """How a store is cut up: `rows` a program on `warps` warps, each row in `parts` that the same
    lanes take in turn, so that what is known of a row serves more elements; `began` says how a
    program starts. But for "alone" it does while the kernel before it ends (programmatic dependent
    launch), and waits there for its bytes; "ahead" asks for its rows to be in the L2 cache before
    it waits; "early" does too, after the next kernel's programs were let in.
    """

    rows: int
    warps: int
    parts: int
    began: Start = "ahead"

    @property
    def start(self) -> Start:
        """How a program starts: its launch is what `begin` is told, and what `options` asks for."""
        return self.began if self.began != "alone" and overlaps() else "alone"

    @property
    def options(self) -> Mapping[str, Any]:
        """Launch options."""
        pdl = {} if self.start == "alone" else {"launch_pdl": True}
        return {"num_warps": self.warps, **pdl}


def vector(rows: Tensor) -> int:
    """How many of float32 or bfloat16 `rows`' elements a thread loads at once: 16 bytes."""
    return 4 if rows.dtype == torch.float32 else 8


@jit
def _to_cache(at):
    """Asks for the memory lines of pointers `at`: no value is read, so none can be too old."""
    tl.inline_asm_elementwise(
        "prefetch.global.L2 [$1]; mov.b32 $0, 0;", "=r,l", [at.to(tl.int64)], dtype=tl.int32,
        is_pure=False, pack=1,
    )  # fmt: skip


@jit
def begin(data, slots, live, i, COUNT, WIDTH: tl.constexpr, VEC: tl.constexpr, START: tl.constexpr):
    """Waits for the kernel before this one, and lets the one after it start to wait. Rows `i` of
    `data` [COUNT, WIDTH] are those that the program will read, VEC elements in 16 bytes.
    """
    if START == "early":
        tl.extra.cuda.gdc_launch_dependents()
    if START == "ahead" or START == "early":
        LINES: tl.constexpr = WIDTH // (8 * VEC)
        row = tl.minimum(i, COUNT - 1).to(tl.int64)
        _to_cache(slots + row)
        _to_cache(live + row)
        _to_cache(data + row[:, None] * WIDTH + tl.arange(0, LINES)[None, :] * (8 * VEC))
    if START == "ahead" or START == "overlapped":
        tl.extra.cuda.gdc_launch_dependents()
    if START != "alone":
        tl.extra.cuda.gdc_wait()


@jit
def loaded(at, seen, STEP: tl.constexpr, PARTS: tl.constexpr):
    """Tuple of PARTS loads, float32, STEP elements apart: all are in flight before one is used."""
    parts = ()
    for p in tl.static_range(PARTS):
        part = tl.load(at + p * STEP, mask=seen, other=0.0)
        parts += (part.to(tl.float32),)  # type: ignore[assignment]
    return parts


@jit
def places(first, c, VEC: tl.constexpr):
    """Offsets of columns `c` [W] of rows that begin at `first` [R], to be written as they were
    loaded, VEC elements a thread: Triton would give one more of the smaller elements.
    """
    return tl.max_contiguous(first[:, None] + c[None, :], [1, VEC])


@jit
def writable(slots, live, row, COUNT):
    """(slot int64, whether it may be written) of rows `row`, of which there are COUNT."""
    slot = tl.load(slots + row, mask=row < COUNT, other=0)
    alive = tl.load(live + row, mask=row < COUNT, other=0)
    return slot, (alive != 0) & (slot > 0)


@jit
def page_and_token(slot, TOKENS: tl.constexpr):
    """(page int64, token) of slots: a division of 32 bits, as no pool has 2**31 slots."""
    near = slot.to(tl.uint32)
    return (near // TOKENS).to(tl.int64), (near % TOKENS).to(tl.int64)
