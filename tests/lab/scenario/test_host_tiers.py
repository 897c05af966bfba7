"""A host tier that cannot be built is refused in one line, at the setting to blame."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab import memory
from lab.errors import ScenarioError
from lab.scenario.loader import load_scenario
from lab.scenario.pairs import pair
from lab.toggles import to_engine_config
from tests.lab.scenario.files import GOOD, write

ENGINE, LAST_ARM = "concurrency: 60}", "concurrency: 1,"
ENGINE_LINE, LAST_ARM_LINE = 7, 11
REFUSED = {
    "a host smaller than the device": ("host_ratio: 0.9", "host_ratio: 0.9 is not", "from 1 to"),
    "no ratio": ("host_ratio: .nan", "host_ratio: nan is not", "a number from 1 to"),
    "a page that does not divide": (
        *("hicache_slot_page: 100", "hicache_slot_page: 100 is not", "accepted: 128, 256"),
    ),
    "half a c128 entry": ("hicache_slot_page: 64", "hicache_slot_page: 64 is not", "128, 256"),
    "a link that moves nothing": ("host_gb_per_s: 0", "host_gb_per_s: 0 is not", "from 0.001"),
    "direct io with page_first": (
        *("hicache_layout: page_first, hicache_io: direct", "hicache_layout is 'page_first'"),
        "copies layer_first and page_first_direct only",
    ),
    "a kernel with page_first_direct": (
        *("hicache_layout: page_first_direct", "hicache_layout is 'page_first_direct'"),
        "copies layer_first and page_first only",
    ),
    "a host tier without a prefix cache": (
        *("hicache: true, radix: false", "hicache is on and radix off", "mirrors the prefix cache"),
    ),
    "a hot buffer smaller than one step's reading": (
        *("hisparse: true, hisparse_buffer: 63", "hisparse_buffer is 63", "one step reads 64"),
    ),
}


def refusal(folder: Path, was: str, becomes: str) -> str:
    """What loading the good scenario with one place changed is refused with."""
    assert was in GOOD
    with pytest.raises(ScenarioError) as caught:
        load_scenario(write(folder, GOOD.replace(was, becomes, 1)))
    return str(caught.value)


@pytest.mark.parametrize("case", REFUSED)
def test_the_engine_s_own_line_is_named(case: str, tmp_path: Path) -> None:
    given, says, also = REFUSED[case]
    message = refusal(tmp_path, ENGINE, f"{ENGINE[:-1]}, {given}}}")
    assert message.startswith(f"{tmp_path / 'good.yaml'}:{ENGINE_LINE}: engine.h")
    assert says in message and also in message and "\n" not in message


@pytest.mark.parametrize("case", REFUSED)
def test_an_arm_s_own_line_is_named(case: str, tmp_path: Path) -> None:
    given, says, also = REFUSED[case]
    message = refusal(tmp_path, LAST_ARM, f"{LAST_ARM} {given},")
    assert message.startswith(f"{tmp_path / 'good.yaml'}:{LAST_ARM_LINE}: arms.2.h")
    assert says in message and also in message and "\n" not in message


def test_of_two_settings_that_do_not_go_together_the_arm_s_is_blamed(tmp_path: Path) -> None:
    text = GOOD.replace(ENGINE, f"{ENGINE[:-1]}, hicache_layout: page_first}}", 1)
    with pytest.raises(ScenarioError) as caught:
        load_scenario(write(tmp_path, text.replace(LAST_ARM, f"{LAST_ARM} hicache_io: direct,", 1)))
    assert f"good.yaml:{LAST_ARM_LINE}: arms.2.hicache_io: hicache_layout is" in str(caught.value)


def test_an_option_that_makes_the_misfit_is_blamed(tmp_path: Path) -> None:
    path = write(tmp_path)
    option = "engine.hicache_layout=page_first_direct"
    with pytest.raises(ScenarioError, match=f"^--set {option}: engine.hicache_layout: hicache_lay"):
        load_scenario(path, [option])
    with pytest.raises(ScenarioError, match=r"^--toggle hicache_layout=layer_first,page_first_di"):
        pair(load_scenario(path), (), "hicache_layout=layer_first,page_first_direct")


@pytest.mark.parametrize(
    ("io", "layout"),
    [
        *(("kernel", "layer_first"), ("kernel", "page_first")),
        *(("direct", "layer_first"), ("direct", "page_first_direct")),
    ],
)
def test_what_production_copies_is_accepted_and_reaches_the_engine(
    io: str, layout: str, tmp_path: Path
) -> None:
    given = f"hicache: true, hicache_io: {io}, hicache_layout: {layout}, host_ratio: 3"
    path = write(tmp_path, GOOD.replace(ENGINE, f"{ENGINE[:-1]}, {given}}}", 1))
    scenario = load_scenario(path)
    config = to_engine_config(scenario.settings(scenario.arms[0]))
    assert (config.hicache, config.hicache_io, config.hicache_layout) == (True, io, layout)
    assert config.host_ratio == 3.0


def test_an_option_is_blamed_and_not_the_line_that_it_no_longer_goes_with(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD.replace(ENGINE, f"{ENGINE[:-1]}, hicache: true}}", 1))
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path, ["engine.radix=false"])
    said = "--set engine.radix=false: engine.radix: hicache is on and radix off"
    assert str(caught.value).startswith(said)


def test_a_word_of_the_message_that_is_a_setting_too_is_not_blamed(tmp_path: Path) -> None:
    text = GOOD.replace(ENGINE, f"{ENGINE[:-1]}, hisparse: true, hisparse_buffer: 63}}", 1)
    with pytest.raises(ScenarioError, match=r"good.yaml:7: engine.hisparse_buffer: hisparse_bu"):
        load_scenario(write(tmp_path, text))


def test_pools_that_the_machine_cannot_hold_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "machine_bytes", lambda: 24 * memory.GIB)
    given = "hicache: true, pool_pages: 65536, host_ratio: 64"
    message = refusal(tmp_path, ENGINE, f"{ENGINE[:-1]}, {given}}}")
    assert f":{ENGINE_LINE}: engine.host_ratio: the pools need " in message
    assert "(device 45.0 GiB, host 2,877.0 GiB); the machine has 24.0 GiB" in message


def test_an_option_that_makes_the_pools_too_large_is_blamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "machine_bytes", lambda: 24 * memory.GIB)
    path = write(tmp_path, GOOD.replace(ENGINE, f"{ENGINE[:-1]}, host_ratio: 2}}", 1))
    with pytest.raises(ScenarioError, match=r"^--set engine.pool_pages=65536: engine.pool_pages: "):
        load_scenario(path, ["engine.pool_pages=65536"])
