"""The shadow of one engine: what host and compute know of each other."""

from __future__ import annotations

import numpy as np

from engine.shadow.memory import Common, ShadowMemory
from tests.engine.shadow.steps import Steps


def knows(shadow: ShadowMemory, stream: int, op: int) -> bool:
    at = shadow.log[op]
    return bool(shadow.clocks.knows(stream, np.array([at.stream]), np.array([at.epoch]))[0])


def test_a_step_knows_what_the_host_had_done_when_it_was_launched() -> None:
    shadow = Steps().shadow
    first = shadow.begin("free", "a release", shadow.host)
    shadow.launched()
    second = shadow.begin("free", "a release", shadow.host)
    assert knows(shadow, shadow.compute, first)
    assert not knows(shadow, shadow.compute, second)


def test_the_host_hears_of_steps_one_by_one_however_far_compute_is() -> None:
    shadow = Steps().shadow
    steps = []
    for number in (1, 2):
        steps.append(shadow.begin("decode", f"decode step {number}", shadow.compute))
        shadow.ended()
    shadow.heard()
    assert [knows(shadow, shadow.host, step) for step in steps] == [True, False]
    shadow.heard()
    assert [knows(shadow, shadow.host, step) for step in steps] == [True, True]
    shadow.heard()  # nothing is left to be heard of


def test_two_sides_share_one_order_of_time_and_no_stream() -> None:
    steps, common = Steps(), Common()
    sides = [
        ShadowMemory(steps.pools.pools, 8, steps.events, steps, lambda: 0, common, side)
        for side in ("prefill", "decode")
    ]
    assert common.clocks.names == [
        "prefill host",
        "prefill compute",
        "decode host",
        "decode compute",
    ]
    assert sides[0].log is sides[1].log


def test_a_pool_whose_pages_share_bytes_is_seen_as_that() -> None:
    shared = Steps(build=["index_k_under_allocated"], index_k="bf16").shadow
    assert shared.groups["index_k", 0].shape.stride == 33
    assert Steps(index_k="bf16").shadow.groups["index_k", 0].shape.stride == 0
