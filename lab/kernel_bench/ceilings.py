"""What the device does at its best, measured in the same run: a case's floor is made of it.

Rule: a floor is the larger of its bytes at the rate of a copy over the link that bounds them and
its operations at the rate of a large product; nothing is taken from a data sheet. What mostly reads
can be a little faster than a copy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from kernels import timing

if TYPE_CHECKING:
    from kernels.production.case import Case


@dataclass(frozen=True)
class Ceilings:
    """Bytes a second of each link, read and written bytes counted; operations a second;
    milliseconds of a launch alone, and of one that overlaps with the kernel before it.
    """

    hbm: float
    h2d: float
    d2h: float
    bf16: float
    fp8: float
    launch_ms: float
    overlapped_launch_ms: float

    def bytes_ms(self, case: Case) -> float:
        """Milliseconds of its bytes at the rate of a copy over the link that bounds them."""
        return (
            1e3 * case.moved_bytes / {"hbm": self.hbm, "h2d": self.h2d, "d2h": self.d2h}[case.link]
        )

    def flops_ms(self, case: Case) -> float:
        """Milliseconds of its matrix operations at the rate of a large product."""
        return 1e3 * case.flops / {"bf16": self.bf16, "fp8": self.fp8}[case.matrix]

    def floor_ms(self, case: Case) -> float:
        """The larger of the two."""
        return max(self.bytes_ms(case), self.flops_ms(case))


def measured() -> Ceilings:
    """The ceilings of the CUDA device here; takes a few seconds."""
    return Ceilings(
        hbm=timing.copy_bytes_per_s(),
        h2d=timing.link_bytes_per_s(to_device=True),
        d2h=timing.link_bytes_per_s(to_device=False),
        bf16=timing.matrix_flops_per_s(torch.bfloat16),
        fp8=timing.matrix_flops_per_s(torch.float8_e4m3fn),
        launch_ms=timing.launch_ms(overlap=False),
        overlapped_launch_ms=timing.launch_ms(overlap=True),
    )
