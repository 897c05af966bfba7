"""Zero is the noise floor: no toggle, alone or with others, makes a healthy build say wrong."""

import pytest

from tests.scenarios.whole import arms, run, scenario

BASELINE = "baseline/healthy"


@pytest.mark.parametrize("arm", arms(BASELINE))
def test_no_toggle_corrupts_a_healthy_build(arm: str) -> None:
    history, verdict = run(scenario(BASELINE, sessions=3), arm)
    assert verdict.replies_corrupt == 0
    assert verdict.violations == {}
    assert verdict.verdict in {"clean", "inconclusive"}  # three sessions may miss a path
    assert len(history.replies) == 6


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("arm", arms(BASELINE))
def test_a_thousand_sessions_are_clean_on_three_seeds(arm: str, seed: int) -> None:
    _, verdict = run(scenario(BASELINE, sessions=48), arm, seed)
    assert (verdict.verdict, verdict.replies_corrupt) == ("clean", 0), verdict.reason
