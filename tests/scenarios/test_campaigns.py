"""Each campaign shows what its file says where every toggle is bad, and where every one is good.

Whole bisections are `kvlab bisect`'s own; here are the trials that they stand on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lab.bisect.space import Config
from lab.bisecting.space_of import arm_of
from lab.bisecting.world import run_trial
from lab.scenario.loader import load_scenario
from tests.scenarios.whole import ROOT

if TYPE_CHECKING:
    from lab.bisect.trials import Trial
    from lab.scenario.models import Scenario

SERVED = "served"  # a server's toggles, and fewer of them: each costs a boot
EVERY = sorted(path.stem for path in (ROOT / "campaigns").glob("*.yaml"))
CAMPAIGNS = [name for name in EVERY if name != SERVED]
REPRODUCED = ("one_toggle", "two_toggles", "three_toggles", "investigation", "two_defects")
INVESTIGATED = (
    *("index_k", "hicache", "graph", "overlap", "topk", "pd", "queue_size"),
    *("concurrency", "hicache_layout", "chunked_prefill"),
)


def campaign(name: str) -> Scenario:
    """The file `scenarios/campaigns/NAME.yaml`."""
    return load_scenario(ROOT / "campaigns" / f"{name}.yaml")


def trial(of: Scenario, bad: frozenset[str], index: int = 0) -> Trial:
    """One boot with these toggles bad."""
    return run_trial(of, arm_of(of, Config(bad)), of.seed, of.bisect.outcome, index)


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_a_campaign_offers_ten_toggles_under_the_same_constraints(name: str) -> None:
    of = campaign(name)
    assert len(of.toggles) == 10
    assert of.constraints == {"queue_size": {"pd": True}, "hicache_layout": {"hicache": True}}
    assert name == "not_offered" or tuple(of.toggles) == INVESTIGATED


@pytest.mark.slow
@pytest.mark.parametrize("name", REPRODUCED)
def test_with_every_toggle_bad_sessions_are_corrupt(name: str) -> None:
    of = campaign(name)
    assert trial(of, frozenset(of.toggles)).corrupt > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", REPRODUCED)
def test_with_every_toggle_good_none_is(name: str) -> None:
    found = trial(campaign(name), frozenset())
    assert (found.verdict, found.corrupt, found.unknown) == ("clean", 0, "")


@pytest.mark.slow
def test_what_no_toggle_controls_is_corrupt_with_every_toggle_good() -> None:
    assert trial(campaign("not_offered"), frozenset()).corrupt > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["clean", "dormant"])
def test_a_clean_campaign_takes_every_path_with_every_toggle_bad(name: str) -> None:
    of = campaign(name)
    found = trial(of, frozenset(of.toggles))
    assert (found.verdict, found.corrupt, dict(found.violations)) == ("clean", 0, {})
    for path in ("padded_rows", "pages_restored", "transfers", "overlap_steps", "prefix_hits"):
        assert found.exposure[path] > 0
    assert {n for path, n in found.reach.items() if "token_granular" in path} == {0}


def test_a_campaign_of_liveness_wedges_and_corrupts_nothing() -> None:
    of = campaign("no_progress")
    found = trial(of, frozenset(of.toggles))
    assert (found.verdict, found.corrupt) == ("wedged", 0)
    assert found.faults["bootstrap_loop_died"] == 1


@pytest.mark.slow
def test_either_of_two_defects_is_enough() -> None:
    of = campaign("two_defects")
    every = frozenset(of.toggles)
    assert trial(of, every - {"overlap"}).corrupt > 0
    assert trial(of, every - {"index_k"}).corrupt > 0
