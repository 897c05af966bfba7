"""The CUDA device that kernels are measured on, and what else a figure depends on.

Rule: without a device nothing is measured, and that is said in one line.
"""

from __future__ import annotations

from typing import Any

import torch

from engine.clock import wall_date
from lab.errors import UserError
from lab.versions import installed


def require() -> None:
    """Raises UserError where there is no CUDA device."""
    if not torch.cuda.is_available():
        raise UserError("--device cuda: there is no CUDA device here; `--device cpu` needs none")


def settle() -> None:
    """Return once the device, where there is one, has done all that it was given."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def described() -> dict[str, Any]:
    """Device, torch, Triton, CUDA and the date: JSON-ready."""
    return {
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "none",
        "torch": torch.__version__,
        "triton": installed("triton"),
        "cuda": torch.version.cuda,
        "date": wall_date().date().isoformat(),
    }
