"""From a scenario to the space, the ladders and the arms of a search."""

from __future__ import annotations

import pytest

from lab.bisect.space import Config
from lab.bisecting.space_of import arm_of, ladders_of, space_of
from lab.scenario.loader import parse_scenario
from tests.lab.scenario.files import CAMPAIGN

LADDERS = "  ladders: {concurrency: [1, 2, 4, 8], wire_gb_per_s: [1.0, 0.5]}\n"


def levels(toggle: str, asked: str = "") -> tuple[float, ...] | None:
    """The ladder of one more toggle, in the file's words and with its own levels if any."""
    text = CAMPAIGN.replace("toggles:\n", f"toggles:\n  {toggle}\n", 1)
    text = text.replace(LADDERS, f"  ladders: {asked}\n" if asked else "", 1)
    scenario = parse_scenario(text.replace("engine: {radix: true}", ""), "campaign.yaml")
    return ladders_of(scenario).get(toggle.partition(":")[0])


def test_toggles_stand_in_the_file_s_order_with_what_they_need_and_their_weights() -> None:
    space = space_of(parse_scenario(CAMPAIGN, "campaign.yaml"))
    assert space.toggles == (
        *("index_k", "graph", "pd", "queue_size", "concurrency", "wire_gb_per_s"),
    )
    assert space.needs["queue_size"] == {"pd"}
    assert space.weights == {"graph": 2.0, "pd": 1.5}
    assert not space.valid(space.mask(["queue_size"]))
    assert not space.valid(space.mask(["index_k"]))
    assert space.valid(space.mask(["index_k", "graph", "concurrency"]))


def test_a_file_s_levels_get_their_ends_and_go_from_good_to_bad() -> None:
    assert levels("pool_pages: {bad: 32, good: 512}", "{pool_pages: [64, 256]}") == (
        *(512, 256, 64, 32),
    )
    assert levels("chunked_prefill: {bad: 8192, good: 512}", "{chunked_prefill: [1024]}") == (
        *(512, 1024, 8192),
    )


def test_without_levels_a_number_has_some_and_a_name_has_none() -> None:
    assert levels("pool_pages: {bad: 32, good: 512}") == (512, 256, 128, 64, 32)
    assert levels("topk: {bad: v1, good: v2}") is None
    assert levels("overlap: {bad: true, good: false}") is None


def test_every_level_is_one_that_the_toggle_can_have() -> None:
    chunks = levels("chunked_prefill: {bad: 65536, good: 256}")
    assert chunks is not None
    assert (chunks[0], chunks[-1]) == (256, 65536)
    assert [size % 256 for size in chunks] == [0] * len(chunks)
    assert list(chunks) == sorted(set(chunks))
    assert levels(
        "hicache_slot_page: {bad: 128, good: 256}\n  hicache: {bad: true, good: false}"
    ) == (*(256, 128),)


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ("bad: 0.0, good: 2.0", (2.0, 4.0, 16.0, 0.0)),  # 0: all at once, beyond every rate
        ("bad: 2.0, good: 0.0", (0.0, 16.0, 4.0, 2.0)),
    ],
)
def test_from_a_zero_that_is_no_amount_only_the_file_s_levels_lead(
    ends: str, expected: tuple[float, ...]
) -> None:
    assert levels(f"arrival_rate: {{{ends}}}") is None
    assert levels(f"arrival_rate: {{{ends}}}", "{arrival_rate: [16.0, 4.0]}") == expected


def test_an_arm_has_every_toggle_bad_or_good_or_at_its_level() -> None:
    scenario = parse_scenario(CAMPAIGN, "campaign.yaml")
    config = Config(frozenset({"graph", "concurrency"}), (("concurrency", 4),))
    assert arm_of(scenario, config).overrides == {
        **{"index_k": "fp8", "graph": True, "pd": False, "queue_size": 32},
        **{"concurrency": 4, "wire_gb_per_s": 0.0},
    }
    assert scenario.settings(arm_of(scenario, config))["pool_pages"] == 48  # the preset's
