"""host_mirror_sized_as_fp8: bf16 index keys lose the rows that an fp8 page has no room for."""

from __future__ import annotations

from typing import Any

import pytest

from engine.defects import catalog
from engine.shapes import geometry_of
from lab.copies import stored_geometry
from tests.engine.pools.mirrored import PAIRS, Tiers, differing
from tests.scenarios.dirty import dirty
from tests.scenarios.whole import arms

NAME = "host_mirror_sized_as_fp8"
FILE, BAD = f"incidents/{NAME}", "bf16, hicache on"


def round_trip(tiers: Tiers) -> list[str]:
    """Back page 1 up, lose it, restore it to page 4: the pools that differ."""
    tiers.scribble(range(7))
    before = tiers.bytes_of(1)
    host = tiers.back_up([1])
    tiers.scribble(range(7))
    tiers.restore(host, [4])
    return differing(before, tiers.bytes_of(4))


@pytest.mark.parametrize(("layout", "io"), PAIRS)
def test_bf16_index_keys_and_nothing_else_come_back_damaged(layout: str, io: str) -> None:
    tiers = Tiers(index_k="bf16", hicache_layout=layout, hicache_io=io, build=(NAME,))
    assert round_trip(tiers) == ["index_k"]
    assert tiers.counted("restored_differs:") == {"restored_differs:index_k": 1}
    evidence = {event.fields["name"] for event in tiers.events.events}
    assert evidence == {*catalog()[NAME].evidence}


def test_entries_0_to_32_survive_and_33_to_63_are_the_page_s_last_holder_s() -> None:
    tiers = Tiers(index_k="bf16", build=(NAME,))
    tiers.scribble(range(7))
    keys = tiers.device.index_k.pages.view(7, 64, 256)
    before = keys[1].clone()
    host = tiers.back_up([1])
    tiers.scribble(range(7))
    stranger = keys[4].clone()
    tiers.restore(host, [4])
    same = (keys[4] == before).all(dim=1).nonzero().flatten().tolist()
    assert same == list(range(33))
    assert (keys[4, 33:] == stranger[33:]).all()


def test_fp8_index_keys_are_sized_right_by_the_same_mistake() -> None:
    tiers = Tiers(index_k="fp8", build=(NAME,))
    assert round_trip(tiers) == []
    assert tiers.events.events == []


def test_the_same_load_is_clean_on_a_healthy_build() -> None:
    tiers = Tiers(index_k="bf16")
    assert round_trip(tiers) == []
    assert tiers.events.events == []


def test_the_geometry_report_shows_8448_against_16384() -> None:
    found = geometry_of(Tiers(index_k="bf16", build=(NAME,)).config)
    wrong = [(row.pool, row.tier, row.item_bytes) for row in found if not row.agrees]
    assert wrong == [("index_k", "host", 8_448)]
    assert [row.item_bytes for row in found if row.pool == "index_k"] == [16_384, 8_448]


def test_with_cut_pages_rows_of_unequal_planes_still_go_whole() -> None:
    tiers = Tiers(index_k="bf16", build=(NAME, "partial_page_transfers"))
    assert round_trip(tiers) == ["index_k"]
    assert tiers.counted("path_rows:index_k:load:token") == {}


@pytest.mark.parametrize("arm", arms(FILE))
def test_an_arm_of_the_incident_concludes_what_its_file_expects(arm: str) -> None:
    ran = dirty(FILE, arm)
    assert ran.as_expected, ran.verdict


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("arm", arms(FILE))
def test_it_concludes_so_on_other_seeds(arm: str, seed: int) -> None:
    ran = dirty(FILE, arm, seed)
    assert ran.as_expected, ran.verdict


def test_the_same_load_on_a_healthy_build_passes() -> None:
    ran = dirty(FILE, BAD, 0, "build=[]")
    assert ran.clean, ran.verdict
    assert ran.moved("restored_differs:") == {}
    assert ran.mismatches() == []


def test_replies_are_corrupt_and_the_damage_is_in_index_k_alone() -> None:
    ran = dirty(FILE, BAD)
    assert ran.verdict.replies_corrupt > 0
    assert ran.moved("restored_differs:") == {"index_k": ran.count("pages_restored")}
    assert {*ran.verdict.violations} == {*catalog()[NAME].evidence}


def test_the_server_states_8448_bytes_on_the_host_for_16384_on_the_device() -> None:
    assert dirty(FILE, BAD).mismatches() == [("index_k", "host", 8_448)]
    [device] = [row for row in stored_geometry(dirty(FILE, BAD).history) if is_index_k(row)]
    assert device["item_bytes"] == 16_384


def test_innocent_toggles_do_not_clear_it() -> None:
    for innocent in ("engine.graph=false", "engine.topk=v2"):
        ran = dirty(FILE, BAD, 0, innocent)
        assert ran.as_expected, (innocent, ran.verdict)


def is_index_k(row: dict[str, Any]) -> bool:
    return (row["pool"], row["tier"]) == ("index_k", "device")
