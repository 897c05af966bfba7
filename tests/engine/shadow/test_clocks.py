"""Vector clocks: a stream knows of what it waited for, by itself or by others, and of no more."""

from __future__ import annotations

import numpy as np

from engine.shadow.clocks import VectorClocks


def knows(clocks: VectorClocks, stream: int, other: int, epoch: int) -> bool:
    return bool(clocks.knows(stream, np.array([other]), np.array([epoch]))[0])


def test_a_stream_has_one_number_whoever_names_it() -> None:
    clocks = VectorClocks()
    assert [clocks.stream(name) for name in ("host", "compute", "host")] == [0, 1, 0]


def test_what_began_after_the_wait_is_not_known() -> None:
    clocks = VectorClocks()
    host, compute = clocks.stream("host"), clocks.stream("compute")
    assert [clocks.tick(compute), clocks.tick(compute)] == [1, 2]
    clocks.wait(host, compute)
    clocks.tick(compute)
    assert knows(clocks, host, compute, 2)
    assert not knows(clocks, host, compute, 3)


def test_a_snapshot_holds_what_was_known_when_it_was_taken() -> None:
    clocks = VectorClocks()
    host, compute = clocks.stream("host"), clocks.stream("compute")
    clocks.tick(compute)
    then = clocks.now(compute)
    clocks.tick(compute)
    late = clocks.stream("load")  # streams may come later than snapshots
    clocks.join(host, then)
    assert knows(clocks, host, compute, 1)
    assert not knows(clocks, host, compute, 2)
    assert not knows(clocks, host, late, 1)
