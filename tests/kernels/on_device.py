"""Compiled kernels behind CPU tensors: every call travels to the GPU and back."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from torch import Tensor

from kernels.ops import LayerView, Ops, Segment
from kernels.page_copy import page_copy_triton

if TYPE_CHECKING:
    from collections.abc import Callable


def on_device(ops: Ops, device: str = "cuda") -> Ops:
    """``ops`` whose arguments are moved to ``device``, and whose writes and results come back."""
    return Ops(**{field.name: _moved(getattr(ops, field.name), device) for field in fields(Ops)})


def _moved(op: Callable[..., Any], device: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        there = [_to(arg, device) for arg in args]
        out = op(*there, **kwargs)
        for mine, moved in zip(args, there, strict=True):
            if isinstance(mine, LayerView):
                mine.pages.copy_(moved.pages)
        if op is page_copy_triton:  # the one operation that writes to a plain tensor
            args[0].copy_(there[0])
        return _to(out, "cpu")

    return call


def _to(value: Any, device: str) -> Any:
    if isinstance(value, Tensor):
        return value.to(device)
    if isinstance(value, LayerView):
        return LayerView(value.layout, value.pages.to(device))
    if isinstance(value, Segment):
        return Segment(_to(value.view, device), value.slots.to(device))
    if isinstance(value, tuple):
        return tuple(_to(part, device) for part in value)
    return value
