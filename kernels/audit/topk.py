"""Top-k selections beside a stable sort: which slots, and of equals those at the lowest positions.

Rule: sets are compared, for the two versions order them differently; rows that take every position
are compared in order too.
"""

import itertools
from collections.abc import Callable

import torch
from torch import Tensor

from kernels import exact
from kernels.audit.check import Found, Setting, check, poisoned

KERNEL = "topk"
SMALL = ((10, 5),)  # rows x pages
LARGE = ((64, 9), (64, 257), (10, 2049), (10, 4097))
WHY = "a selection is right or wrong"


def selection(s: Setting, names: tuple[str, ...]) -> Found:
    """Both versions on logits drawn as each of `names` says."""
    k, shapes = s.size(64, 512), LARGE if s.large else SMALL
    measured: dict[str, float] = {}
    for name, (rows, width) in itertools.product(names, shapes):
        g = s.numbers(f"topk {name}")
        lens = lengths(rows, width, k, g)
        table = torch.randperm(4 * rows * width, generator=g)[: rows * width]
        logits = DRAWN[name](torch.randn(rows, width * 64, generator=g), k)
        logits.masked_fill_(torch.arange(width * 64) >= torch.tensor(lens)[:, None], -torch.inf)
        ends = torch.tensor(lens, dtype=torch.int32)
        logits, ends, pages = s.put(logits, ends, table.view(rows, width).int())
        want = [exact.topk_slots(*row, k) for row in zip(logits, lens, pages, strict=True)]
        for version, select in (("v1", s.ops.topk_slots_v1), ("v2", s.ops.topk_slots_v2)):
            with poisoned():
                got = select(logits, ends, pages, k).tolist()
            pairs = list(zip(got, want, lens, strict=True))
            sets = sum(sorted(mine) != sorted(right) for mine, right, _ in pairs)
            order = sum(mine != right for mine, right, length in pairs if length <= k)
            for what, number in (("sets", sets), ("orders of short rows", order)):
                key = f"{version} {what} differing"
                measured[key] = measured.get(key, 0.0) + number
    sizes = ", ".join(f"{rows} x {width * 64:,}" for rows, width in shapes)
    inputs = f"{k} of {sizes} logits, rows of any length; {', '.join(names)}"
    return Found(inputs, measured, dict.fromkeys(measured, 0.0), WHY)


def lengths(rows: int, width: int, k: int, g: torch.Generator) -> list[int]:
    """Lengths beside `k`, beside a page, all, and then any."""
    known = [width * 64, 0, 1, k - 1, k, k + 1, width * 32 + 1, 63, 64, 65]
    drawn = torch.randint(0, width * 64 + 1, (rows,), generator=g).tolist()
    return [*known, *drawn][:rows]


def _at_a_border(logits: Tensor, k: int) -> Tensor:
    """All equal but for a few, so that the k-th is a tie, some at the last and first of a page."""
    tied = torch.zeros_like(logits)
    tied[:, 62::64], tied[:, 65::64], tied[:, 1::97] = 1.0, -1.0, 0.5
    return tied


def _mostly(value: float) -> Callable[[Tensor, int], Tensor]:
    return lambda logits, _: torch.where(logits.sin() < 0.4, value, logits)


def _near(logits: Tensor, _: int) -> Tensor:
    """Neighbours in float32: their upper digits are the same."""
    return (1.0 + (logits * 64).round() * 2.0**-23).float()


DRAWN: dict[str, Callable[[Tensor, int], Tensor]] = {
    "random": lambda logits, _: logits,
    "all equal": lambda logits, _: torch.full_like(logits, 0.25),
    "rectified, mostly zero": lambda logits, _: (logits - 1.5).relu(),
    "ties on page borders": _at_a_border,
    "neighbours in float32": _near,
    "zeros of both signs": lambda logits, _: torch.where(logits > 0, 0.0, -0.0),
    "subnormals": lambda logits, _: logits * 1e-40,
    "mostly NaN": _mostly(torch.nan),
    "mostly inf": _mostly(torch.inf),
    "mostly -inf": _mostly(-torch.inf),
}


@check(KERNEL, "random logits")
def random_logits(s: Setting) -> Found:
    """Logits with no equals."""
    return selection(s, ("random", "neighbours in float32"))


@check(KERNEL, "equal logits")
def equal_logits(s: Setting) -> Found:
    """Ties that cross the edge, where only position decides."""
    names = ("all equal", "rectified, mostly zero", "ties on page borders", "zeros of both signs")
    return selection(s, names)


@check(KERNEL, "numbers at the edges")
def edges(s: Setting) -> Found:
    """NaN above all, infinities, and numbers that a kernel might flush to zero."""
    return selection(s, ("subnormals", "mostly NaN", "mostly inf", "mostly -inf"))
