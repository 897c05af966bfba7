"""Two engines say what one would say: no toggle of a pair, alone or with others, costs a reply."""

import pytest

from lab.exposure import unexercised
from lab.scenario.loader import load_scenario
from tests.scenarios.paired import shipped
from tests.scenarios.whole import ROOT, arms, quick, run, scenario

BASELINE = "baseline/disaggregated"
ABORTS = "baseline/disaggregated_aborts"
# a room of four takes 0.6 s: whoever leaves in the first two seconds leaves one that is on its way
BUSY = ("workload.preset=burst", "engine.wire_gb_per_s=0.01", "engine.abort_rate=0.5")
SATURATED = [arm for arm in arms(BASELINE) if "saturated" in arm]
SERVED = [arm for arm in arms(BASELINE) if arm not in SATURATED]
QUICK = quick(
    SERVED,
    "nixl, bf16, overlap",
    "decode pool of 20 pages, two metadata slots, bf16, overlap",
    "one queue, one worker, a slow wire",
    "two ranks, nixl, eager, deferred release, clients that leave",
    "host tier, HiSparse, clients that leave",
)


def needs(settings: dict[str, object]) -> None:
    """Skip where the wire that an arm goes over is not installed."""
    if settings["wire"] == "nixl":
        pytest.importorskip("nixl_cu13")


@pytest.mark.parametrize("arm", QUICK)
def test_no_toggle_corrupts_a_healthy_pair(arm: str) -> None:
    sessions = 3 if "host tier" in arm else 2  # two evict nobody
    small = scenario(BASELINE, sessions)
    needs(small.settings(next(each for each in small.arms if each.name == arm)))
    history, verdict = run(small, arm)
    assert (verdict.replies_corrupt, verdict.seen) == (0, {})
    assert history.counters["rooms_checked"] == len(history.replies) == 2 * sessions
    later = ["abort_rate"] * ("leave" in arm)
    assert unexercised(history.settings, history.counters) == later
    assert verdict.verdict == ("inconclusive" if later else "clean"), verdict.reason


@pytest.mark.parametrize("arm", quick(SATURATED, SATURATED[0]))
def test_a_saturated_wire_costs_replies_and_spoils_none(arm: str) -> None:
    history, verdict = run(scenario(BASELINE, sessions=8), arm)
    assert (verdict.verdict, verdict.seen) == ("inconclusive", {}), verdict.reason
    assert (verdict.replies_corrupt, verdict.unfinished > 0) == (0, True)
    assert history.counters["waiting_timeouts"] == history.counters["rooms_failed"] > 0
    assert history.counters["rooms_checked"] > 0


@pytest.mark.parametrize("deferred", ["", ", deferred release"])
def test_clients_that_leave_a_busy_wire_harm_nobody_and_both_wires_tell_the_same_story(
    deferred: str,
) -> None:
    pytest.importorskip("nixl_cu13")
    busy = scenario(ABORTS, 4, *BUSY)
    told = [run(busy, wire + deferred) for wire in ("inproc", "nixl")]
    for history, verdict in told:
        assert (verdict.verdict, verdict.seen) == ("clean", {}), verdict.reason
        assert history.counters["aborts_in_flight"] > 0
    assert told[0][0].history_digest == told[1][0].history_digest


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("arm", arms(BASELINE))
def test_every_arm_is_as_expected_at_full_size_on_three_seeds(arm: str, seed: int) -> None:
    full = load_scenario(ROOT / f"{BASELINE}.yaml")
    needs(full.settings(next(each for each in full.arms if each.name == arm)))
    _, verdict = run(full, arm, seed)
    assert verdict.verdict == verdict.expected, verdict.reason
    assert (verdict.replies_corrupt, verdict.seen) == (0, {})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("deferred", "seed"), [("", 0), ("", 1), ("", 2), (", deferred release", 0)]
)
def test_a_thousand_sessions_whose_clients_leave_are_exact_and_alike_on_both_wires(
    deferred: str, seed: int
) -> None:
    pytest.importorskip("nixl_cu13")
    told = [shipped(ABORTS, wire + deferred, seed) for wire in ("inproc", "nixl")]
    for found in told:
        assert found.clean, found.verdict
        assert found.verdict.sessions == 1000
        assert found.count("clients_left") > 100
        assert 2 * found.count("aborts_in_flight") > found.count("clients_left")
    assert told[0].history.history_digest == told[1].history.history_digest
