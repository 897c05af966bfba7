"""Zero is the noise floor: no toggle, alone or with others, makes a healthy build say wrong."""

import pytest

from lab.exposure import unexercised
from tests.scenarios.whole import arms, quick, run, scenario

BASELINE = "baseline/healthy"
LOADS = [f"baseline/{kind}" for kind in ("twins", "round_robin", "a_flood_a")]
EVERY = [(name, arm) for name in (BASELINE, *LOADS) for arm in arms(name)]
# prefixes must live on in a larger pool and then be lost: too much for a load of test size
NOT_YET_RESTORED = {
    "host tier, direct io, copies of what is used twice, overlap",
    "host tier as large as the pool, write_back, a slow link, overlap",
}
QUICK = quick(arms(BASELINE), *{*arms(BASELINE)} - {"one at a time"})


@pytest.mark.parametrize("arm", QUICK)
def test_no_toggle_corrupts_a_healthy_build(arm: str) -> None:
    history, verdict = run(scenario(BASELINE, sessions=3), arm)
    assert verdict.replies_corrupt == 0
    assert verdict.violations == {}
    assert len(history.replies) == 6  # nobody leaves yet
    later = ["hicache"] * (arm in NOT_YET_RESTORED) + ["abort_rate"] * ("leave" in arm)
    assert unexercised(history.settings, history.counters) == later
    assert verdict.verdict == ("inconclusive" if later else "clean")


@pytest.mark.parametrize("name", LOADS)
def test_no_load_corrupts_a_healthy_build_whose_prefixes_come_from_the_host(name: str) -> None:
    history, verdict = run(scenario(name, sessions=4), "host tier")
    assert (verdict.verdict, verdict.violations) == ("clean", {}), verdict.reason
    assert history.counters["pages_restored"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(("name", "arm"), EVERY, ids=lambda value: value)
def test_every_arm_is_clean_at_full_size_on_three_seeds(name: str, arm: str, seed: int) -> None:
    _, verdict = run(scenario(name, sessions=48), arm, seed)
    assert (verdict.verdict, verdict.replies_corrupt) == ("clean", 0), verdict.reason
