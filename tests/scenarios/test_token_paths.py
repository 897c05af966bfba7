"""Copies by tokens in whole runs: dormant under HiCache, right under HiSparse, woken by force."""

from __future__ import annotations

import pytest

from tests.scenarios.dirty import dirty
from tests.scenarios.whole import arms, quick

DORMANT, CUT, FORCED = (
    "incidents/token_granular_c4_geometry",
    "incidents/partial_page_transfers",
    "hypotheses/token_granular_forced",
)
BY_HOST = [arm for arm in arms(DORMANT) if arm != "hisparse"]
SOUND = [(name, arm) for name in (DORMANT, CUT) for arm in arms(name)]


@pytest.mark.parametrize("arm", quick(BY_HOST, "layer_first"))
def test_under_hicache_no_pool_of_any_layout_goes_by_tokens(arm: str) -> None:
    ran = dirty(DORMANT, arm)
    assert ran.clean, ran.verdict
    layout = ran.history.settings["hicache_layout"]
    for operation in ("backup", "load"):
        assert ran.count(f"path:index_k:{operation}:token_granular:{layout}") == 0
    assert ran.moved("path:", "token_granular") == {}
    assert ran.moved("path_rows:index_k:load:")  # by pages it was copied


def test_under_hisparse_the_c4_latent_goes_by_tokens_and_comes_back_right() -> None:
    ran = dirty(DORMANT, "hisparse")
    assert ran.clean, ran.verdict
    for operation in ("backup", "load"):
        assert ran.count(f"path_rows:hisparse_c4:{operation}:token_granular:layer_first") > 0
    assert all(name.startswith("hisparse_c4:") for name in ran.moved("path:", "token_granular"))


@pytest.mark.parametrize("arm", quick(arms(CUT), "layer_first"))
def test_cut_pages_are_clean_and_go_by_tokens_where_tokens_have_addresses(arm: str) -> None:
    ran = dirty(CUT, arm)
    assert ran.clean, ran.verdict
    assert ran.count("host_hits") > 0
    by_tokens = {name.split(":")[0] for name in ran.moved("path_rows:", "load", "token_granular")}
    assert by_tokens == (set() if arm == "page_first" else {"swa", "c4", "index_k", "c128"})


@pytest.mark.slow
def test_cut_pages_on_a_healthy_build_go_whole() -> None:
    ran = dirty(CUT, "layer_first", 0, "build=[]")
    assert ran.clean, ran.verdict
    assert ran.moved("path:", "token_granular") == {}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("name", "arm"), SOUND, ids=lambda value: value)
def test_every_arm_is_clean_on_other_seeds(name: str, arm: str, seed: int) -> None:
    ran = dirty(name, arm, seed)
    assert ran.clean, ran.verdict


def test_forced_replies_are_corrupt_and_c4_latents_alone_come_back_right() -> None:
    ran = dirty(FORCED, "layer_first")
    assert ran.as_expected, ran.verdict
    assert ran.verdict.replies_corrupt > 0
    assert ran.count("path_rows:index_k:load:token_granular:layer_first") > 0
    assert {*ran.moved("restored_differs:")} == {"swa", "c128", "index_k"}
    assert "read_foreign_row" in ran.verdict.violations


def test_page_first_has_no_token_path_to_force() -> None:
    ran = dirty(FORCED, "page_first")
    assert ran.as_expected, ran.verdict
    assert ran.moved("path:", "token_granular") == {}


@pytest.mark.slow
def test_forced_the_same_load_on_a_healthy_build_passes() -> None:
    ran = dirty(FORCED, "layer_first", 0, "build=[]")
    assert ran.clean, ran.verdict


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("arm", arms(FORCED))
def test_forced_an_arm_concludes_what_its_file_expects(arm: str, seed: int) -> None:
    ran = dirty(FORCED, arm, seed)
    assert ran.as_expected, ran.verdict
