"""token_granular_c4_geometry: real, and dormant until something cuts a page."""

from __future__ import annotations

import pytest

from engine.defects import catalog
from tests.engine.pools.mirrored import PAIRS, Tiers, differing
from tests.scenarios.dirty import dirty
from tests.scenarios.whole import arms

NAME, CUT = "token_granular_c4_geometry", "partial_page_transfers"
FILE, FORCED = f"incidents/{NAME}", "hypotheses/token_granular_forced"
BY_HOST = [arm for arm in arms(FILE) if arm != "hisparse"]


def round_trip(pages: int = 1, **config: object) -> tuple[Tiers, list[str]]:
    tiers = Tiers(**config)
    tiers.scribble(range(7))
    device = list(range(1, pages + 1))
    before = [tiers.bytes_of(page) for page in device]
    host = tiers.back_up(device)
    tiers.scribble(range(7))
    tiers.restore(host, [6 - i for i in range(pages)])
    lost = [differing(was, tiers.bytes_of(6 - i)) for i, was in enumerate(before)]
    return tiers, sorted({name for names in lost for name in names})


@pytest.mark.parametrize("index_k", ["fp8", "bf16"])
@pytest.mark.parametrize(("layout", "io"), PAIRS)
def test_no_configuration_reaches_it_without_a_cut_page(layout: str, io: str, index_k: str) -> None:
    tiers, lost = round_trip(
        2, index_k=index_k, hicache_layout=layout, hicache_io=io, build=(NAME,)
    )
    assert lost == []
    assert not [name for name in tiers.counted("path:") if "token_granular" in name]


@pytest.mark.parametrize("index_k", ["fp8", "bf16"])
def test_layer_first_and_a_cut_page_make_it_fire(index_k: str) -> None:
    tiers, lost = round_trip(index_k=index_k, build=(NAME, CUT))
    assert {"index_k", "c128", "swa"} <= {*lost}
    assert tiers.counted("path_rows:index_k:load:token_granular:") == {
        "path_rows:index_k:load:token_granular:layer_first": 64
    }
    evidence = {event.fields["name"] for event in tiers.events.events}
    assert evidence == {*catalog()[NAME].evidence}


def test_c4_latents_are_what_its_constants_are_right_for() -> None:
    _, lost = round_trip(build=(NAME, CUT))
    assert "c4" not in lost


def test_page_first_has_no_data_pointers_for_it() -> None:
    _, lost = round_trip(hicache_layout="page_first", build=(NAME, CUT))
    assert lost == []


def test_a_cut_page_alone_costs_nothing() -> None:
    tiers, lost = round_trip(3, build=(CUT,))
    assert lost == []
    assert tiers.events.events == []


@pytest.mark.parametrize("arm", arms(FILE))
def test_every_arm_of_the_incident_is_clean(arm: str) -> None:
    ran = dirty(FILE, arm)
    assert ran.clean, ran.verdict


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("arm", arms(FILE))
def test_every_arm_is_clean_on_other_seeds(arm: str, seed: int) -> None:
    ran = dirty(FILE, arm, seed)
    assert ran.clean, ran.verdict


@pytest.mark.parametrize("arm", BY_HOST)
def test_under_hicache_no_pool_of_any_layout_goes_by_tokens(arm: str) -> None:
    ran = dirty(FILE, arm)
    layout = ran.history.settings["hicache_layout"]
    for operation in ("backup", "load"):
        assert ran.count(f"path:index_k:{operation}:token_granular:{layout}") == 0
    assert ran.moved("path:", "token_granular") == {}
    assert ran.moved("path_rows:index_k:load:")  # by pages it was copied


def test_under_hisparse_the_c4_latent_goes_by_tokens_and_comes_back_right() -> None:
    ran = dirty(FILE, "hisparse")
    for operation in ("backup", "load"):
        assert ran.count(f"path_rows:hisparse_c4:{operation}:token_granular:layer_first") > 0
    assert ran.verdict.replies_corrupt == 0
    assert all(name.startswith("hisparse_c4:") for name in ran.moved("path:", "token_granular"))


@pytest.mark.parametrize("arm", arms(FORCED))
def test_forced_an_arm_concludes_what_its_file_expects(arm: str) -> None:
    ran = dirty(FORCED, arm)
    assert ran.as_expected, ran.verdict


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("arm", arms(FORCED))
def test_forced_it_concludes_so_on_other_seeds(arm: str, seed: int) -> None:
    ran = dirty(FORCED, arm, seed)
    assert ran.as_expected, ran.verdict


def test_forced_replies_are_corrupt_and_c4_latents_alone_come_back_right() -> None:
    ran = dirty(FORCED, "layer_first")
    assert ran.verdict.replies_corrupt > 0
    assert ran.count("path_rows:index_k:load:token_granular:layer_first") > 0
    assert {*ran.moved("restored_differs:")} == {"swa", "c128", "index_k"}


def test_forced_the_same_load_on_a_healthy_build_passes() -> None:
    ran = dirty(FORCED, "layer_first", 0, "build=[]")
    assert ran.clean, ran.verdict


def test_page_first_has_no_token_path_to_force() -> None:
    assert dirty(FORCED, "page_first").moved("path:", "token_granular") == {}
