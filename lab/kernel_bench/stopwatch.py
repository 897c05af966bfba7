"""How a call is timed: replayed from a graph over inputs that no cache holds.

Rule: what waits for the device, and so cannot be in a graph, is timed without one, and that is
told. What the link to the host bounds takes turns with a cudaMemcpy of as many bytes: the link's
rate drifts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import torch

from kernels import timing

if TYPE_CHECKING:
    from kernels.production.case import Call, Case


class Timed(NamedTuple):
    """Milliseconds of one call, whether a graph was replayed, and over a link the milliseconds of a
    cudaMemcpy of as many bytes, which took turns with it.
    """

    ms: float
    graph: bool
    link_ms: float | None = None


class Stopwatch(Protocol):
    """Times calls on a device; another one stands in where there is none."""

    def inputs(self, case: Case) -> list[Any]:
        """As many sets of a case's inputs as it takes."""

    def time(self, case: Case, call: Call, inputs: Sequence[Any]) -> Timed:
        """How long one call takes."""

    def clear(self) -> None:
        """Give back the memory of what is no longer used."""


class GpuStopwatch:
    """The stopwatch of a CUDA device."""

    def inputs(self, case: Case) -> list[Any]:
        """Sets made of different seeds; one where the host's memory is the other end."""
        sets = timing.sets_needed(case.resident_bytes) if case.link == "hbm" else 1
        return [case.make(seed) for seed in range(sets)]

    def time(self, case: Case, call: Call, inputs: Sequence[Any]) -> Timed:
        """The median over several repeats."""
        if case.link != "hbm":
            beside = timing.link_copy(case.link == "h2d", case.moved_bytes)
            ms, link_ms = timing.alternately_ms([partial(call, inputs[0]), beside])
            return Timed(ms, False, link_ms)
        graph = not _waits(call, inputs[0])
        timed = timing.replay_ms if graph else timing.eager_ms
        return Timed(timed(call, inputs), graph)

    def clear(self) -> None:
        """Empty torch's cache of device memory."""
        torch.cuda.synchronize()
        torch.cuda.empty_cache()


def _waits(call: Call, made: Any) -> bool:
    """Whether a call, which has been made before, waits for the device: a failed capture would
    leave torch's random numbers broken for the rest of the run.
    """
    torch.cuda.set_sync_debug_mode("error")
    try:
        call(made)
    except RuntimeError as error:
        if "synchronizing" not in str(error):
            raise
        return True
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return False
