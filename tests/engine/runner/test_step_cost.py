"""The figures of a wire between two nodes hold together."""

from __future__ import annotations

import pytest

from engine.runner.step_cost import PRESETS, Hardware


@pytest.mark.parametrize("hw", PRESETS.values(), ids=PRESETS)
def test_one_thread_fills_a_part_of_the_link_and_the_link_a_part_of_the_memory(
    hw: Hardware,
) -> None:
    assert 0 < hw.wire_bytes_per_s < hw.link_bytes_per_s < hw.hbm_bytes_per_s


@pytest.mark.parametrize("hw", PRESETS.values(), ids=PRESETS)
def test_a_message_is_later_than_a_post_and_far_quicker_than_a_step(hw: Hardware) -> None:
    assert 0 < hw.wire_latency_s < hw.control_latency_s < hw.decode_base_s / 10
