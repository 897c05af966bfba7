"""A case on a CPU whose times are made up: a stopwatch that knows them by the version's name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch import Tensor

from kernels.production.case import Call, Case, Goal, Peer
from lab.kernel_bench import ceilings, compiling, device, tune
from lab.kernel_bench.ceilings import Ceilings
from lab.kernel_bench.stopwatch import Timed

CEILINGS = Ceilings(
    hbm=4e12,
    h2d=5e10,
    d2h=5e10,
    bf16=8e14,
    fp8=1.6e15,
    launch_ms=0.0013,
    overlapped_launch_ms=0.0008,
)


def doubled(made: Tensor) -> Tensor:
    """What the case computes."""
    return made * 2


def plainly(made: Tensor) -> Tensor:
    """The same in another way."""
    return made + made


def wrongly(made: Tensor) -> Tensor:
    """Something else."""
    return made * 3


def failing(made: Tensor) -> Tensor:
    """Nothing at all."""
    raise RuntimeError("out of shared memory\nRequired: 300000\nHardware limit: 232448")


def make(seed: int) -> Tensor:
    """Inputs."""
    return torch.randn(8, generator=torch.Generator().manual_seed(seed))


def case(**changes: Any) -> Case:
    """4 GB at 4 TB/s: a floor of a millisecond."""
    given: dict[str, Any] = {
        "kernel": "double",
        "size": "8 numbers",
        "make": make,
        "ours": doubled,
        "plain": plainly,
        "moved_bytes": 4_000_000_000,
        "peer": Peer("theirs", 1.25),
        "goal": Goal(2.0, "floor"),
        "candidates": {"wrong": wrongly, "fails": failing, "also": lambda made: made * 2.0},
    }
    return Case(**given | changes)


@dataclass
class FakeStopwatch:
    """Gives each call the time that it is told, in order of asking, and `link_ms` beside it."""

    times: list[float] = field(default_factory=list)
    link_ms: float | None = None
    cleared: int = 0
    timed: list[Call] = field(default_factory=list)

    def inputs(self, case: Case) -> list[Any]:
        """One set."""
        return [case.make(0)]

    def time(self, case: Case, call: Call, inputs: Sequence[Any]) -> Timed:
        """The next time; the call is made once, so that what fails does."""
        call(inputs[0])
        self.timed.append(call)
        return Timed(self.times.pop(0), True, self.link_ms)

    def clear(self) -> None:
        """Counts."""
        self.cleared += 1


def as_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Lets runs be of two made-up cases and times; returns which of its parts are asked, in order.

    The candidate `also` does not compile.
    """
    asked: list[str] = []
    found = [("a", case()), ("b", case(size="9 numbers"))]

    def compiled(todo: Sequence[compiling.Task], jobs: int) -> Iterator[tuple[object, str]]:
        asked.append("compile")
        return ((task, "too large" * (task.version == "also")) for task in todo)

    def measured() -> Ceilings:
        asked.append("ceilings")
        return CEILINGS

    monkeypatch.setattr(device, "require", lambda: None)
    monkeypatch.setattr(tune, "gathered", lambda *_: found)
    monkeypatch.setattr(compiling, "compiled", compiled)
    monkeypatch.setattr(ceilings, "measured", measured)
    monkeypatch.setattr(tune, "GpuStopwatch", lambda: FakeStopwatch([1.0] * 6))
    return asked
