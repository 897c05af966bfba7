"""How long something takes on a GPU: medians of graph replays over inputs that no cache holds.

Rule: figures to read, never a test. Nothing here knows a kernel.
"""

from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import torch
from torch import Tensor

from kernels.nothing import do_nothing

REPEATS = 20
LAUNCHES = 64  # in the graph whose launches are timed
SPIN_CYCLES = 1_000_000  # half a millisecond, in which the host prepares what is timed
CACHE_BYTES = 60 << 20  # the L2 of an H200
MOST_SETS = 256  # of inputs, each a call of one graph
Call = Callable[[Any], object]


def replay_ms(call: Call, inputs: Sequence[Any], repeats: int = REPEATS) -> float:
    """Milliseconds of one call: the median over `repeats` replays of a graph that calls it on each
    of `inputs` in turn, and keeps what each returned apart from the others'. The launch of the
    graph by the host is not in it.
    """
    graph = _captured(call, inputs)
    for _ in range(3):
        graph.replay()
    return float(median([_prepared_ms(graph.replay) for _ in range(repeats)])) / len(inputs)


def eager_ms(call: Call, inputs: Sequence[Any], repeats: int = REPEATS) -> float:
    """The same without a graph: for calls that cannot be captured, or that run for long."""

    def all_of_them() -> list[object]:
        return [call(each) for each in inputs]

    all_of_them()
    return float(median([_prepared_ms(all_of_them) for _ in range(repeats)])) / len(inputs)


def alternately_ms(
    works: Sequence[Callable[[], object]], repeats: int = 2 * REPEATS
) -> list[float]:
    """Milliseconds of each of `works`, medians of turns that alternate: for what shares a link
    whose rate drifts. What the host does for a turn is not in it.
    """
    spent: list[list[float]] = [[] for _ in works]
    for work in works:
        work()
    for _ in range(repeats):
        for work, times in zip(works, spent, strict=True):
            times.append(_prepared_ms(work))
    return [float(median(times)) for times in spent]


def sets_needed(resident_bytes: int, most_bytes: int = 8 << 30) -> int:
    """How many sets of inputs it takes until one has left the cache before it is used again."""
    wanted = -(-3 * CACHE_BYTES // max(1, resident_bytes)) + 1
    return max(1, min(wanted, MOST_SETS, most_bytes // max(1, resident_bytes)))


def copy_bytes_per_s(size: int = 1 << 30) -> float:
    """Bytes read and written a second by a copy of `size` bytes on the device."""
    src = torch.empty(size, dtype=torch.uint8, device="cuda").random_(0, 255)
    dst = torch.empty_like(src)
    return 2 * size / eager_ms(lambda _: dst.copy_(src), [None]) * 1e3


def link_bytes_per_s(to_device: bool, size: int = 1 << 28) -> float:
    """Bytes a second that cudaMemcpy moves between pinned host memory and the device."""
    return size / alternately_ms([link_copy(to_device, size)])[0] * 1e3


def link_copy(to_device: bool, size: int) -> Callable[[], object]:
    """A cudaMemcpy of `size` bytes between pinned host memory and the device, to be called."""
    host = torch.empty(size, dtype=torch.uint8, pin_memory=True)
    device = torch.empty(size, dtype=torch.uint8, device="cuda")
    dst, src = (device, host) if to_device else (host, device)
    return lambda: dst.copy_(src, non_blocking=True)


def launch_ms(overlap: bool) -> float:
    """Milliseconds from one kernel that does nothing to the next in a replayed graph; `overlap`:
    with programmatic dependent launch.
    """
    return replay_ms(lambda _: do_nothing(overlap), [None] * LAUNCHES)


def matrix_flops_per_s(dtype: torch.dtype, n: int = 8192) -> float:
    """Operations a second of an n x n x n product of random bf16 or e4m3 matrices."""
    a, b = (torch.randn(n, n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    if dtype == torch.bfloat16:
        return 2 * n**3 / eager_ms(lambda _: torch.mm(a, b), [None]) * 1e3
    a8, b8 = a.to(dtype), b.to(dtype).t()
    one = torch.ones((), device="cuda")

    def product(_: object) -> Tensor:
        return torch._scaled_mm(a8, b8, one, one, out_dtype=torch.bfloat16)

    return 2 * n**3 / eager_ms(product, [None]) * 1e3


def _captured(call: Call, inputs: Sequence[Any]) -> torch.cuda.CUDAGraph:
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):  # kernels are compiled outside the graph
        for each in inputs[:2]:
            call(each)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        returned = [call(each) for each in inputs]  # held until all are there: no two in one place
    del returned
    return graph


def _prepared_ms(work: Callable[[], object]) -> float:
    """What lies between two events; the device is busy while the host prepares the work."""
    torch.cuda._sleep(SPIN_CYCLES)
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    work()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end))
