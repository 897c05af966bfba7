"""A pair that cannot be built is refused in one line, at the setting to blame."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab import memory
from lab.errors import ScenarioError
from lab.scenario.idle import without_effect
from lab.scenario.loader import load_scenario
from lab.toggles import to_engine_config
from tests.lab.scenario.files import broken

ENGINE, ENGINE_LINE = "concurrency: 60}", 7
REFUSED = {
    "three ranks": ("tp: 3", "tp: 3 is not accepted", "accepted: 1, 2, 4"),
    "no threads": ("workers: 0", "workers: 0 is not accepted", "at least 1"),
    "no queues": ("queue_size: 0", "queue_size: 0 is not accepted", "at least 1"),
    "no time": ("waiting_timeout: 0", "waiting_timeout: 0 is not", "from 0.001"),
    "a wire that never ends": ("wire_gb_per_s: 0.0001", "wire_gb_per_s: 0.0001", "from 0.001"),
    "a wire of another name": ("wire: ucx", "wire: 'ucx' is not accepted", "inproc, nixl"),
    "keys of another dtype": ("decode_index_k: fp4", "'fp4' is not accepted", "same, fp8, bf16"),
    "unknown hardware": (
        "hardware: h100",
        "hardware: 'h100' is not",
        "h200, h200-tcp, rtx-pro-6000",
    ),
    "a reserved page and no other": (
        *("decode_pool_pages: 1", "decode_pool_pages is 1", "0 or at least 2"),
    ),
    "a decode side too small for a conversation": (
        *("pd: true, decode_pool_pages: 2", "engine.decode_pool_pages: 2 pages hold 512"),
        "at least",
    ),
}


def given(folder: Path, settings: str) -> Path:
    return broken(folder, ENGINE, f"{ENGINE[:-1]}, {settings}}}")


@pytest.mark.parametrize("case", REFUSED)
def test_the_engine_s_own_line_is_named(case: str, tmp_path: Path) -> None:
    settings, says, also = REFUSED[case]
    with pytest.raises(ScenarioError) as caught:
        load_scenario(given(tmp_path, settings))
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'good.yaml'}:{ENGINE_LINE}: engine.")
    assert says in message and also in message and "\n" not in message


def test_sides_that_would_refuse_each_other_are_refused_before_either_runs(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(given(tmp_path, "pd: true, decode_index_k: fp8"))
    message = str(caught.value)
    said = f":{ENGINE_LINE}: engine.decode_index_k: index_k: prefill's pages are 16,384 bytes"
    assert said in message and "decode's 8,448" in message and "\n" not in message


def test_a_build_that_compares_nothing_takes_sides_of_two_dtypes(tmp_path: Path) -> None:
    path = given(tmp_path, "pd: true, decode_index_k: fp8")
    build = "build=[padded_scatter_stale_slots, peer_item_len_trusted]"
    assert load_scenario(path, [build]).arms


def test_a_pair_s_settings_reach_the_engine(tmp_path: Path) -> None:
    settings = "pd: true, tp: 2, queue_size: 1, waiting_timeout: 0.5, hardware: rtx-pro-6000"
    scenario = load_scenario(given(tmp_path, settings))
    config = to_engine_config(scenario.settings(scenario.arms[0]))
    assert (config.pd, config.tp, config.queue_size) == (True, 2, 1)
    assert (config.waiting_timeout, config.hardware) == (0.5, "rtx-pro-6000")


def test_what_only_a_pair_reads_is_noted_where_there_is_none(tmp_path: Path) -> None:
    settings = "tp: 2, waiting_timeout: 5, decode_pool_pages: 2"
    said = ["decode_pool_pages, tp, waiting_timeout have no effect: pd is off"]
    assert without_effect(load_scenario(given(tmp_path, settings))) == said


def test_ranks_that_the_machine_cannot_hold_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "machine_bytes", lambda: 4 * memory.GIB)
    load_scenario(given(tmp_path, "pd: true"))
    with pytest.raises(ScenarioError) as caught:
        load_scenario(given(tmp_path, "pd: true, tp: 4"))
    said = f":{ENGINE_LINE}: engine.tp: the pools need "
    assert said in str(caught.value) and ", decode " in str(caught.value)
