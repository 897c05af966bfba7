"""Bisections in the database: every trial as it ends, every probe once it is complete."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lab.bisect.notebook import Phase, Probe
from lab.bisect.space import Config
from lab.bisect.trials import Trial
from lab.errors import StoreError
from lab.store import Results, RunStatus, open_results

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BAD = Config(frozenset({"graph", "index_k"}))
LEVEL = Config(frozenset({"index_k"}), (("concurrency", 4), ("host_ratio", 1.5)))


@pytest.fixture
def results(tmp_path: Path) -> Iterator[Results]:
    with open_results(tmp_path / "lab.duckdb") as opened:
        yield opened


def begin(results: Results, name: str = "good") -> str:
    return results.begin_bisection(
        name, "name: good\n", 2**63 - 1, "bayes", {"budget": 300, "fix": ["pd"]}, {"kvlab": "1"}
    )


def trial(index: int, corrupt: int = 1) -> Trial:
    return Trial(
        index=index,
        sessions=6,
        corrupt=corrupt,
        unknown="" if corrupt else "it wedged",
        verdict="corrupt" if corrupt else "wedged",
        seed=2**62 + index,
        violations={"padded_row_wrote_owned_slot": 3} if corrupt else {},
        faults={"no_progress": 1},
        exposure={"padded_rows": 12, "host_hits": 0},
        reach={"c4 load token_granular": 0},
        digest="sha256:0",
        wall_s=1.25,
    )


def test_what_is_begun_is_read_back_as_running(results: Results) -> None:
    made = begin(results)
    stored = results.bisection(made)
    assert (stored.scenario, stored.yaml, stored.seed) == ("good", "name: good\n", 2**63 - 1)
    assert (stored.method, stored.options) == ("bayes", {"budget": 300, "fix": ["pd"]})
    assert (stored.versions, stored.verdict) == ({"kvlab": "1"}, None)
    assert (stored.status, stored.trials, stored.sessions) == (RunStatus.RUNNING, 0, 0)


def test_a_probe_is_read_back_as_it_was_saved(results: Results) -> None:
    made = begin(results)
    probes = [
        Probe(Phase.REPRODUCE, BAD, (trial(0), trial(1, corrupt=0))),
        Probe(Phase.THRESHOLD, LEVEL, (trial(5_000_000),)),
        Probe(Phase.CONTROL, Config(), (trial(2),)),
    ]
    for number, probe in enumerate(probes):
        results.save_probe(made, number, probe)
    assert results.probes(made) == probes
    assert list(results.trials(made)) == [(BAD, 0), (BAD, 1), (LEVEL, 5_000_000), (Config(), 2)]
    assert (results.bisection(made).trials, results.bisection(made).sessions) == (4, 24)


def test_a_trial_of_an_open_probe_is_remembered_and_no_probe_is_listed(results: Results) -> None:
    made = begin(results)
    results.save_trial(made, BAD, trial(3))
    assert results.trials(made) == {(BAD, 3): trial(3)}
    assert results.probes(made) == []


def test_a_probe_takes_the_trials_that_were_saved_before_it_was_complete(results: Results) -> None:
    made = begin(results)
    results.save_trial(made, BAD, trial(1))  # workers end in any order
    results.save_trial(made, BAD, trial(0))
    results.save_trial(made, Config(), trial(1))
    probe = Probe(Phase.DISCOVER, BAD, (trial(0), trial(1), trial(2)))
    for _ in range(2):  # asked again after an interruption: nothing is stored twice
        results.save_probe(made, 0, probe)
        assert results.probes(made) == [probe]
        assert results.bisection(made).trials == 4


def test_a_probe_that_fails_to_store_leaves_nothing_of_itself(results: Results) -> None:
    made = begin(results)
    broken = Probe(Phase.DISCOVER, BAD, (trial(0), trial(2**70)))
    with pytest.raises(Exception, match="INT64"):
        results.save_probe(made, 0, broken)
    assert results.trials(made) == {}


def test_bisections_do_not_see_each_other_s_trials(results: Results) -> None:
    first, second = begin(results), begin(results)
    results.save_probe(first, 0, Probe(Phase.DISCOVER, BAD, (trial(0),)))
    results.save_probe(second, 0, Probe(Phase.REPRODUCE, BAD, (trial(0, corrupt=0),)))
    assert results.probes(first)[0].phase is Phase.DISCOVER
    assert results.trials(second) == {(BAD, 0): trial(0, corrupt=0)}


def test_a_bisection_ends_with_its_document_and_then_stays_as_it_is(results: Results) -> None:
    made = begin(results)
    document = {"verdict": "CONFIRMED", "rate_bad": 0.17, "threshold": None}
    results.finish_bisection(made, "done", document)
    assert results.bisection(made).verdict == document
    with pytest.raises(StoreError, match="is done, it cannot become running"):
        results.resume_bisection(made)


def test_one_that_was_interrupted_or_failed_can_go_on(results: Results) -> None:
    made = begin(results)
    for status in (RunStatus.INTERRUPTED, RunStatus.FAILED):
        results.finish_bisection(made, status)
        results.resume_bisection(made)
        assert results.bisection(made).status is RunStatus.RUNNING
    with pytest.raises(StoreError, match="is running, it cannot become running"):
        results.resume_bisection(made)


def test_one_left_running_by_a_process_that_is_gone_is_interrupted(tmp_path: Path) -> None:
    with open_results(tmp_path / "lab.duckdb") as results:
        made = begin(results)
        results.save_trial(made, BAD, trial(0))
    with open_results(tmp_path / "lab.duckdb") as results:
        assert results.bisection(made).status is RunStatus.INTERRUPTED
        assert results.trials(made) == {(BAD, 0): trial(0)}


def test_it_is_named_by_last_its_beginning_or_its_suffix(results: Results) -> None:
    with pytest.raises(StoreError, match="holds no bisection yet; `kvlab bisect` makes one"):
        results.resolve_bisection("last")
    first, second = begin(results, "one"), begin(results, "two")
    assert results.resolve_bisection("last") == second
    assert results.resolve_bisection(first) == first
    assert results.resolve_bisection(first[-4:]) == first
    with pytest.raises(StoreError, match=f"fits 2 bisections: {second}, {first}"):
        results.resolve_bisection("2")
    with pytest.raises(StoreError, match="no bisection 'nope'"):
        results.bisection("nope")


def test_runs_and_bisections_share_no_id_and_neither_is_the_other(results: Results) -> None:
    ids = [begin(results) if i % 2 else results.begin_run("good", "", 0, {}) for i in range(20)]
    assert len(dict.fromkeys(ids)) == 20
    assert [stored.id for stored in results.bisections()] == ids[1::2]
    with pytest.raises(StoreError, match=f"{ids[1]} is a bisection, not a run"):
        results.resolve(ids[1])
