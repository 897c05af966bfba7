"""What the stores of rows share: how many rows a program takes, which of them it may write, and
where.

Rule: a row that is not live, or whose slot is 0 or less, has no place.
"""
# mypy: allow-untyped-defs, allow-incomplete-defs

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from kernels.jit import jit, tl


@dataclass(frozen=True)
class StorePlan:
    """How a store is cut up: `rows` a program on `warps` warps, each row in `parts` that the same
    lanes take in turn, so that what is known of a row serves more elements; `overlap` lets a
    program start while the kernel before it ends (programmatic dependent launch), and wait there
    for its bytes.
    """

    rows: int
    warps: int
    parts: int
    overlap: bool = True

    def options(self, compiled: bool) -> Mapping[str, Any]:
        """Launch options; the interpreter has no launch to overlap."""
        pdl = {"launch_pdl": True} if compiled and self.overlap else {}
        return {"num_warps": self.warps, **pdl}


def vector(rows: Tensor) -> int:
    """How many of float32 or bfloat16 `rows`' elements a thread loads at once: 16 bytes."""
    return 4 if rows.dtype == torch.float32 else 8


@jit
def begin(OVERLAP: tl.constexpr):
    """Waits for the kernel before this one, and lets the one after it start to wait."""
    if OVERLAP:
        tl.extra.cuda.gdc_wait()
        tl.extra.cuda.gdc_launch_dependents()


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
