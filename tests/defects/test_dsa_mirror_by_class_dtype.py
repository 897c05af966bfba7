"""dsa_mirror_by_class_dtype: latent, until the strategy that asks for it is chosen."""

from __future__ import annotations

import pytest

from engine.defects import catalog
from engine.shapes import geometry_of
from tests.engine.pools.mirrored import Tiers
from tests.scenarios.dirty import dirty
from tests.scenarios.whole import arms

NAME = "dsa_mirror_by_class_dtype"
FILE, BAD = f"incidents/{NAME}", "bf16, dsa"


def round_trip(**config: object) -> Tiers:
    tiers = Tiers(build=(NAME,), **config)
    tiers.scribble(range(7))
    host = tiers.back_up([1])
    tiers.scribble(range(7))
    tiers.restore(host, [4])
    return tiers


def test_the_strategy_that_sizes_by_class_damages_bf16_index_keys() -> None:
    tiers = round_trip(index_k="bf16", host_strategy="dsa")
    assert tiers.counted("restored_differs:") == {"restored_differs:index_k": 1}
    evidence = {event.fields["name"] for event in tiers.events.events}
    assert evidence == {*catalog()[NAME].evidence}


@pytest.mark.parametrize(("index_k", "strategy"), [("bf16", "v4"), ("fp8", "v4"), ("fp8", "dsa")])
def test_no_other_configuration_reaches_it(index_k: str, strategy: str) -> None:
    tiers = round_trip(index_k=index_k, host_strategy=strategy)
    assert tiers.events.events == []
    assert all(row.agrees for row in geometry_of(tiers.config))


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


def test_replies_are_corrupt_and_the_damage_is_in_index_k_alone() -> None:
    ran = dirty(FILE, BAD)
    assert ran.verdict.replies_corrupt > 0
    assert ran.moved("restored_differs:") == {"index_k": ran.count("pages_restored")}
    assert ran.mismatches() == [("index_k", "host", 8_448)]


def test_the_layout_is_innocent() -> None:
    ran = dirty(FILE, BAD, 0, "engine.hicache_layout=page_first")
    assert ran.as_expected, ran.verdict
