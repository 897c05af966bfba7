"""The fewest sessions, or other parts, of a failing trial that still fail: its schedule, shortened.

One rule: nothing is claimed of a schedule that was not run; the last one that failed is the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")


def shortest(
    every: Sequence[T], fails: Callable[[tuple[T, ...]], bool], tries: int, least: int = 1
) -> tuple[T, ...]:
    """A subset that fails, found by at most ``tries`` calls of ``fails``; all of them is known to.

    Delta debugging over complements (Zeller & Hildebrandt 2002). With enough tries no single
    one of the answer can be left out. It has at least ``least``, 0 or 1.
    """
    kept, parts = tuple(every), 2
    while len(kept) > least:
        for part in split(kept, parts):
            if tries == 0:
                return kept
            tries -= 1
            left = tuple(one for one in kept if one not in part)
            if fails(left):
                kept, parts = left, max(parts - 1, 2)
                break
        else:
            if parts >= len(kept):
                return kept
            parts = min(2 * parts, len(kept))
    return kept


def split(kept: Sequence[T], parts: int) -> list[tuple[T, ...]]:
    """``parts`` runs of nearly equal length, the later first: who came first is likelier needed."""
    bounds = [len(kept) * i // parts for i in range(parts + 1)]
    runs = [tuple(kept[a:b]) for a, b in pairwise(bounds) if b > a]
    return runs[::-1]
