"""Whether two computations of one case did the same: what they returned and what they wrote.

Rule: integers are equal, those of rows (what was selected) as a set a row where their order
differs; floats agree in relative l2 error, and in where they are not finite.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import torch
from torch import Tensor

TOLERANCE = 2e-2  # relative l2: bf16 operands reach 1e-2


class Differs(Exception):
    """Two results are not the same; one line says how."""


def tensors(found: Any) -> Iterator[Tensor]:
    """Every tensor in a result or in inputs, in order."""
    if isinstance(found, Tensor):
        yield found
    elif isinstance(found, Mapping):
        yield from tensors(tuple(found.values()))
    elif isinstance(found, list | tuple):
        for each in found:
            yield from tensors(each)
    elif is_dataclass(found) and not isinstance(found, type):
        yield from tensors([getattr(found, field.name) for field in fields(found)])


def difference(ours: Any, theirs: Any, tolerance: float = TOLERANCE) -> float:
    """The largest relative l2 error of a tensor of `ours`; raises Differs where it is too large."""
    pairs = list(tensors(ours)), list(tensors(theirs))
    shapes = [[tuple(each.shape) for each in side] for side in pairs]
    if shapes[0] != shapes[1]:
        raise Differs(f"shapes {shapes[0]} against {shapes[1]}")
    worst = max((_difference(a, b) for a, b in zip(*pairs, strict=True)), default=0.0)
    if not worst <= tolerance:
        raise Differs(f"relative l2 error {worst:.2g}")
    return worst


def _difference(ours: Tensor, theirs: Tensor) -> float:
    if not ours.is_floating_point() or not theirs.is_floating_point():
        return _unequal(ours, theirs)
    a, b = ours.float(), theirs.float()
    if torch.equal(a, b):
        return 0.0
    for where in (torch.isnan, torch.isposinf, torch.isneginf):
        if unlike := int((where(a) != where(b)).sum()):
            raise Differs(f"{unlike} of {a.numel()} values differ in {where.__name__}")
    a, b = a.nan_to_num(0.0, 0.0, 0.0), b.nan_to_num(0.0, 0.0, 0.0)
    return float((a - b).norm() / b.norm().clamp_min(1e-30))


def _unequal(ours: Tensor, theirs: Tensor) -> float:
    """0.0; Differs says how many integers are not equal, in any order of a row where there are
    rows. One row of integers is slots or digests, each with a place of its own.
    """
    if torch.equal(ours, theirs):
        return 0.0
    if ours.dim() > 1 and ours.dtype not in (torch.uint8, torch.bool):
        ours, theirs = ours.sort(dim=-1).values, theirs.sort(dim=-1).values
    unequal = int((ours != theirs).sum())
    if unequal:
        raise Differs(f"{unequal} of {ours.numel()} integers differ")
    return 0.0
