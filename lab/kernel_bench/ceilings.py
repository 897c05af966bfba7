"""What the device can do at most, measured in the same run: a case's floor is made of it.

Rule: a floor is the larger of its bytes over the link that bounds them and its operations over the
matrix rate; nothing is taken from a data sheet.
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
        """Milliseconds that its bytes take over the link that bounds them."""
        return (
            1e3 * case.moved_bytes / {"hbm": self.hbm, "h2d": self.h2d, "d2h": self.d2h}[case.link]
        )

    def flops_ms(self, case: Case) -> float:
        """Milliseconds that its matrix operations take."""
        return 1e3 * case.flops / {"bf16": self.bf16, "fp8": self.fp8}[case.matrix]

    def floor_ms(self, case: Case) -> float:
        """Milliseconds under which no version of a case can be."""
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
