"""What was suspected and is innocent: a healthy build goes down each path, and is clean."""

from __future__ import annotations

import pytest

from lab.copies import stored_geometry
from tests.scenarios.dirty import dirty
from tests.scenarios.paired import shipped
from tests.scenarios.whole import Ran, arms, run, scenario

SLOT, ALLOCATION, TOPK = (
    f"hypotheses/{name}" for name in ("slot_page_256", "index_k_allocation", "topk_versions")
)
EVERY = [(name, arm) for name in (SLOT, ALLOCATION, TOPK) for arm in arms(name)]
LENGTHS = "hypotheses/prefix_lengths"
SIZES = "hypotheses/cross_node_pool_sizes"
TOKENS_AN_ENTRY = {"swa": 1, "c4": 4, "index_k": 4, "c128": 128}


@pytest.mark.parametrize("name", [SLOT, ALLOCATION, TOPK])
def test_a_suspect_is_clean(name: str) -> None:
    ran = dirty(name, arms(name)[-1])
    assert ran.clean, ran.verdict
    assert ran.mismatches() == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(("name", "arm"), EVERY, ids=lambda value: value)
def test_a_suspect_is_clean_on_three_seeds(name: str, arm: str, seed: int) -> None:
    ran = dirty(name, arm, seed)
    assert ran.clean, ran.verdict


def fits(ran: Ran) -> bool:
    """A slot page is a page of every pool on both tiers, and pages come back as they left."""
    slots = ran.history.settings["hicache_slot_page"]
    rows = [row for row in stored_geometry(ran.history) if row["pool"] in TOKENS_AN_ENTRY]
    tokens = {row["entries"] * TOKENS_AN_ENTRY[row["pool"]] for row in rows}
    assert len(rows) == 2 * len(TOKENS_AN_ENTRY)  # device and host
    assert ran.count("pages_restored") > 0
    assert ran.count("pages_checked") > 0
    return tokens == {slots} and not ran.mismatches() and not ran.moved("restored_differs:")


def test_a_slot_of_256_tokens_is_64_entries_of_4_and_a_page_of_every_pool() -> None:
    ran = dirty(SLOT, arms(SLOT)[-1])
    assert ran.history.settings["hicache_slot_page"] == 64 * 4 == 2 * 128 == 256
    assert fits(ran)
    assert ran.moved("path:", "token_granular") == {}  # whole pages are whole slot pages


def test_a_mirror_that_has_no_room_for_them_would_not_have_been_cleared() -> None:
    ran = dirty(SLOT, arms(SLOT)[-1], 0, "build=[host_mirror_sized_as_fp8]")
    assert not fits(ran)
    assert not ran.clean


@pytest.mark.parametrize(
    ("arm", "apart"), [("bf16, graph off", 16_384), ("fp8, graph on", 8_448)], ids=str
)
def test_the_upper_half_of_the_slots_was_in_use(arm: str, apart: int) -> None:
    """Pages are evicted only when none is free, so every page of the pool was handed out."""
    ran = dirty(ALLOCATION, arm)
    assert ran.count("evicted_pages") > 0
    [device] = [
        row["item_bytes"]
        for row in stored_geometry(ran.history)
        if (row["pool"], row["tier"]) == ("index_k", "device")
    ]
    assert device == apart


@pytest.mark.parametrize("dtype", ["fp8", "bf16"])
def test_both_selection_kernels_lead_to_the_same_replies(dtype: str) -> None:
    one, other = (dirty(TOPK, f"{dtype}, {version}") for version in ("v1", "v2"))
    assert one.texts() == other.texts()
    assert [ran.history.settings["topk"] for ran in (one, other)] == ["v1", "v2"]


def test_prefixes_around_a_page_boundary_are_evicted_and_restored_exactly() -> None:
    """Six sessions: a family a token short of whole pages, one of whole pages, one beyond."""
    ran = Ran(*run(scenario(LENGTHS, 6), "evicted and restored"))
    assert ran.clean, ran.verdict
    assert ran.count("pages_restored") > 0
    assert ran.count("evicted_pages") > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("arm", arms(LENGTHS))
def test_prefixes_around_every_page_boundary_are_reused_exactly(arm: str, seed: int) -> None:
    ran = Ran(*run(scenario(LENGTHS, 24), arm, seed))
    assert ran.clean, ran.verdict


def pages_in_use(ran: Ran, stage: str) -> set[int]:
    """The pages out of which, or into which, rooms were carried."""
    return {digest.page for digest in ran.history.digests if digest.stage == stage}


def short_of_pages(ran: Ran) -> bool:
    """Whether the smaller side had too few: pages were evicted, or a room waited to be given any.

    A room of the decode side is told its pages when it leaves Bootstrapping.
    """
    sides = [room.decode for room in ran.history.rooms]
    waited = [side["WaitingForInput"] - side["Bootstrapping"] for side in sides]
    return bool(ran.history.counters.get("evicted_pages")) or max(waited) > 0.05


@pytest.mark.parametrize(
    ("arm", "larger", "smaller"),
    [
        ("fp8, prefill larger", "post_store", "post_transfer"),
        ("bf16, decode larger", "post_transfer", "post_store"),
    ],
)
def test_pages_that_one_side_does_not_have_are_carried_to_and_from_the_other_exactly(
    arm: str, larger: str, smaller: str
) -> None:
    ran = Ran(*run(scenario(SIZES, 4, "workload.preset=small_dirty"), arm))
    assert ran.clean, ran.verdict
    assert ran.history.settings["poison_free_pages"]
    assert short_of_pages(ran)
    assert ran.count("rooms_checked") == ran.count("rooms") > 0
    assert max(pages_in_use(ran, larger)) > 24 == max(pages_in_use(ran, smaller))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("arm", arms(SIZES))
def test_the_sizes_of_both_sides_pools_are_innocent(arm: str, seed: int) -> None:
    ran = shipped(SIZES, arm, seed)
    assert ran.clean, ran.verdict
    assert ran.history.settings["poison_free_pages"]
    assert short_of_pages(ran)
    assert ran.count("rooms_checked") == ran.count("rooms") > 0
