"""The stopwatch on a CUDA device: graphs where a call can be in one, and plain calls where not."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from kernels import timing
from lab.kernel_bench.compiling import torch_compiled
from lab.kernel_bench.stopwatch import GpuStopwatch
from lab.kernel_bench.trying import Attempts
from tests.lab.kernel_bench.cases import case, doubled, plainly

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]


def make(seed: int) -> Tensor:
    """4 MiB of numbers on the device."""
    return torch.randn(1 << 20, device="cuda", generator=torch.Generator("cuda").manual_seed(seed))


def waiting(made: Tensor) -> Tensor:
    """The same, after the host has read the first number."""
    return made * (2 if made[0].item() < 1e9 else 3)


def test_a_call_is_replayed_from_a_graph_over_more_inputs_than_the_cache_holds() -> None:
    watch, given = GpuStopwatch(), case(make=make, resident_bytes=8 << 20)
    inputs = watch.inputs(given)
    timed = watch.time(given, doubled, inputs)
    assert len(inputs) > 8 and timed.graph and timed.ms > 0


def test_a_call_that_waits_for_the_device_is_timed_without_one() -> None:
    watch, given = GpuStopwatch(), case(make=make, resident_bytes=1 << 30)
    waiting(make(0))
    timed = watch.time(given, waiting, [make(0)])
    assert not timed.graph and timed.ms > 0
    torch.zeros(1, device="cuda").item()  # waiting is allowed again


def test_compiled_torch_is_compared_and_timed_like_any_other_version() -> None:
    given = case(make=make, resident_bytes=1 << 30)
    tried = Attempts(given, GpuStopwatch(), print).of("compiled", torch_compiled(plainly))
    assert tried.error == "" and tried.graph and tried.ms


def test_what_a_link_bounds_takes_turns_with_a_memcpy() -> None:
    given = case(make=make, moved_bytes=4 << 20, link="d2h")
    timed = GpuStopwatch().time(given, doubled, [make(0)])
    assert not timed.graph and timed.ms > 0 and timed.link_ms


def test_what_a_call_returns_is_in_its_own_place_in_a_replayed_graph() -> None:
    places: list[int] = []

    def noted(made: Tensor) -> Tensor:
        out = made * 2
        if torch.cuda.is_current_stream_capturing():
            places.append(out.data_ptr())
        return out

    timing.replay_ms(noted, [make(seed) for seed in range(4)])
    assert len(set(places)) == 4


@pytest.mark.parametrize("overlap", [False, True])
def test_a_launch_alone_is_timed_with_overlap_and_without(overlap: bool) -> None:
    assert timing.launch_ms(overlap) > 0
