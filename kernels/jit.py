"""Triton, where it is installed: `jit` and `tl` for the kernels, and one clear error where it is
not.

Rule: importing `kernels` never needs Triton; only a launch does.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import torch

AVAILABLE = find_spec("triton") is not None
# decided once, when kernels are defined; the interpreter multiplies matrices of float32 only
INTERPRETED: bool = AVAILABLE and import_module("triton").knobs.runtime.interpret


OVERLAPPING = (9, 0)  # compute capability: the first with programmatic dependent launch


class TritonMissing(RuntimeError):
    """Triton kernels were asked for on a platform that has no Triton."""


class _NoLanguage:
    """Stands in for `triton.language` so that kernel signatures can be read without it."""

    constexpr = object


def require() -> None:
    """Raises TritonMissing unless kernels can be launched."""
    if not AVAILABLE:
        raise TritonMissing("Triton is not installed here (it needs Linux); use Ops.reference()")


def overlaps() -> bool:
    """Whether a launch may begin while the one before it ends: compiled, on a GPU that can."""
    return not INTERPRETED and capability(torch.cuda.current_device()) >= OVERLAPPING


@cache
def capability(device: int) -> tuple[int, int]:
    """The compute capability of a CUDA device; nothing waits for it."""
    return torch.cuda.get_device_capability(device)


def _missing(_fn: Callable[..., Any]) -> Any:
    return None


tl: Any = import_module("triton.language") if AVAILABLE else _NoLanguage()
jit: Callable[[Callable[..., Any]], Any] = import_module("triton").jit if AVAILABLE else _missing


def rows_of(x: Any) -> Any:
    """The tensor itself, or a copy of it if its last dimension has gaps; rows may lie apart."""
    return x if x.stride(-1) == 1 else x.contiguous()


def next_power_of_2(n: int) -> int:
    """The smallest power of two >= n: block sizes of kernels."""
    return 1 << max(0, n - 1).bit_length()
