"""How far two results are apart: bytes, sets, and numbers in units of the sums behind them.

Rule: where one side is NaN or infinite and the other is not the same, the distance is infinite.
"""

import torch
from torch import Tensor

FLOAT32 = 2.0**-24  # half a unit in the last place of 1.0
INF = float("inf")


def bytes_differing(got: Tensor, want: Tensor) -> float:
    """How many bytes of two uint8 tensors differ; infinite where shapes do."""
    return float((got != want).sum()) if got.shape == want.shape else INF


def codes_differing(got: Tensor, want: Tensor) -> float:
    """How many numbers differ in their bytes, every NaN being one number."""
    both = got.float().isnan() & want.float().isnan()
    raw = torch.uint8 if got.dtype == torch.float8_e4m3fn else torch.int16
    raw = torch.int32 if got.dtype == torch.float32 else raw
    return float(((got.contiguous().view(raw) != want.contiguous().view(raw)) & ~both).sum())


def apart(got: Tensor, want: Tensor, size: Tensor | float = 1.0) -> float:
    """The largest distance of two results, each in units of its `size` (float64, broadcast)."""
    if got.shape != want.shape:
        return INF
    if got.numel() == 0:
        return 0.0
    got, want = got.double(), want.double()
    same = (got == want) | (got.isnan() & want.isnan())
    gap = torch.where(same, 0.0, (got - want).abs() / size)
    return float(torch.where(gap.isnan(), INF, gap).amax())


def relative_l2(got: Tensor, want: Tensor) -> float:
    """The norm of the difference over that of `want`, of what is finite in `want`."""
    finite = want.isfinite()
    off = float((got.double() - want)[finite].norm())
    return off / max(float(want[finite].norm()), 1e-300)
