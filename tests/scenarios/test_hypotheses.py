"""What was suspected and is innocent: a healthy build goes down each path, and is clean."""

from __future__ import annotations

import pytest

from lab.tiers import stored_geometry
from tests.scenarios.dirty import Ran, dirty
from tests.scenarios.whole import arms

SLOT, ALLOCATION, TOPK = (
    f"hypotheses/{name}" for name in ("slot_page_256", "index_k_allocation", "topk_versions")
)
EVERY = [(name, arm) for name in (SLOT, ALLOCATION, TOPK) for arm in arms(name)]
SUSPECTS = [(name, arm) for name, arm in EVERY if "256" not in arm]  # 256 is every other test's


def rows(ran: Ran, pool: str) -> dict[str, tuple[int, int]]:
    """Tokens and entries of a page of ``pool``, by tier, as the server stated them."""
    found = [row for row in stored_geometry(ran.history) if row["pool"] == pool]
    return {row["tier"]: (row["page_tokens"], row["entries"]) for row in found}


@pytest.mark.parametrize(("name", "arm"), SUSPECTS, ids=lambda value: value)
def test_a_suspect_is_clean(name: str, arm: str) -> None:
    ran = dirty(name, arm)
    assert ran.clean, ran.verdict
    assert ran.mismatches() == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(("name", "arm"), EVERY, ids=lambda value: value)
def test_a_suspect_is_clean_on_three_seeds(name: str, arm: str, seed: int) -> None:
    ran = dirty(name, arm, seed)
    assert ran.clean, ran.verdict


@pytest.mark.parametrize("arm", ["256, page_first", *(arm for arm in arms(SLOT) if "128" in arm)])
def test_a_slot_of_256_tokens_is_64_index_entries_on_both_tiers_and_comes_back(arm: str) -> None:
    ran = dirty(SLOT, arm)
    assert rows(ran, "index_k") == {"device": (256, 64), "host": (256, 64)}
    assert ran.count("pages_restored") > 0
    assert ran.count("pages_checked") > 0
    assert ran.moved("restored_differs:") == {}
    assert ran.moved("path:", "token_granular") == {}  # whole pages are whole slot pages


def test_the_slot_page_changes_nothing_that_is_said() -> None:
    larger, smaller = (dirty(SLOT, f"{slot}, page_first") for slot in (256, 128))
    assert larger.texts() == smaller.texts()


@pytest.mark.parametrize("arm", arms(ALLOCATION))
def test_the_upper_half_of_the_slots_was_in_use(arm: str) -> None:
    """Pages are evicted only when none is free, so every page of the pool was handed out."""
    ran = dirty(ALLOCATION, arm)
    assert ran.count("evicted_pages") > 0
    apart = 16_384 if ran.history.settings["index_k"] == "bf16" else 8_448
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
