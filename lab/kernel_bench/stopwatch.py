"""How a call is timed: replayed from a graph over inputs that no cache holds.

Rule: copies over the link to the host, and calls that no graph can hold, are timed without one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import torch

from kernels import timing

if TYPE_CHECKING:
    from kernels.production.case import Call, Case


class Stopwatch(Protocol):
    """Times calls on a device; another one stands in where there is none."""

    def inputs(self, case: Case) -> list[Any]:
        """As many sets of a case's inputs as it takes."""

    def ms(self, case: Case, call: Call, inputs: Sequence[Any]) -> float:
        """Milliseconds of one call."""

    def clear(self) -> None:
        """Give back the memory of what is no longer used."""


class GpuStopwatch:
    """The stopwatch of a CUDA device."""

    def inputs(self, case: Case) -> list[Any]:
        """Sets made of different seeds; one where the host's memory is the other end."""
        apart = case.link != "hbm"
        sets = 1 if apart else timing.sets_needed(case.resident_bytes)
        return [case.make(seed) for seed in range(sets)]

    def ms(self, case: Case, call: Call, inputs: Sequence[Any]) -> float:
        """The median of graph replays; of plain calls where the link to the host bounds them."""
        timed = timing.replay_ms if case.link == "hbm" else timing.eager_ms
        return timed(call, inputs)

    def clear(self) -> None:
        """Empty torch's cache of device memory."""
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
