"""What the store gives back equals what it was given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.errors import StoreError
from lab.records import ArmHistory, Asked, Reply
from lab.store import RunStatus, columns, open_results
from tests.lab.samples import ARMS, VIOLATION, findings, history, reply, run_verdict, sample_run

NO_SURROGATES = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NO_SURROGATES, inner, max_size=3),
    max_leaves=4,
)
CALLS = st.lists(st.dictionaries(st.text(max_size=5), JSON, max_size=2), max_size=2)
SECONDS = st.floats(0, 1e9)
SETTINGS = st.dictionaries(
    NO_SURROGATES,
    st.booleans() | st.integers(-9, 9999) | st.floats(0, 99) | NO_SURROGATES,
    max_size=4,
)


FIELDS = st.dictionaries(NO_SURROGATES, st.integers() | NO_SURROGATES, max_size=3)


@st.composite
def replies(draw: st.DrawFn) -> list[Reply]:
    turns = draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), unique=True, max_size=5))
    return [
        Reply(
            session=session,
            turn=turn,
            due=draw(st.booleans()),
            status=draw(st.sampled_from(["ok", "timeout", "not_sent"])),
            finish_reason=draw(st.none() | st.just("stop")),
            raw_text=draw(st.none() | NO_SURROGATES),
            content=draw(st.none() | NO_SURROGATES),
            reasoning=draw(st.none() | NO_SURROGATES),
            tool_calls=tuple(draw(CALLS)),
            prompt_tokens=draw(st.integers(0, 8192)),
            cached_tokens=draw(st.integers(0, 8192)),
            completion_tokens=draw(st.integers(0, 8192)),
            sent_s=draw(SECONDS),
            first_token_s=draw(st.none() | SECONDS),
            done_s=draw(st.none() | SECONDS),
            request_id=draw(st.none() | NO_SURROGATES),
            error=draw(st.none() | NO_SURROGATES),
            tries=draw(st.integers(0, 9)),
            last_token_s=draw(st.none() | SECONDS),
            gaps_ms=draw(st.dictionaries(NO_SURROGATES, SECONDS, max_size=2)),
            cached_tiers=draw(st.dictionaries(NO_SURROGATES, st.integers(0, 8192), max_size=2)),
            chunks=tuple(draw(st.lists(NO_SURROGATES, max_size=2))),
            expected_text=draw(NO_SURROGATES),
            expected_call=draw(st.dictionaries(NO_SURROGATES, NO_SURROGATES, max_size=2)),
        )
        for session, turn in turns
    ]


HISTORIES = st.builds(
    ArmHistory,
    name=NO_SURROGATES,
    settings=SETTINGS,
    sessions=st.integers(0, 1000),
    replies=replies(),
    counters=st.dictionaries(NO_SURROGATES, st.integers(-(2**63), 2**63 - 1), max_size=4),
    events=st.lists(st.tuples(st.integers(0, 2**62), NO_SURROGATES, FIELDS), max_size=4),
    history_digest=NO_SURROGATES,
    wall_s=SECONDS,
    virtual_s=SECONDS,
    stalled=st.none() | NO_SURROGATES,
)


@given(st.lists(HISTORIES, max_size=3, unique_by=lambda arm: arm.name))
@settings(max_examples=10, deadline=None)
def test_histories_equal_what_was_saved(arms: list[ArmHistory]) -> None:
    with open_results(Path(":memory:")) as results:
        run = results.begin_run("any", "name: any", 3, {})
        for arm in arms:
            results.save_arm(run, arm)
        assert results.histories(run) == arms


def test_a_reopened_file_gives_histories_in_the_runs_order(tmp_path: Path) -> None:
    _, arms = sample_run()
    with open_results(tmp_path / "lab.duckdb") as results:
        run = results.begin_run("padded_scatter", "name: padded_scatter", 7, {"torch": "2.13.0"})
        for arm in arms:
            results.save_arm(run, arm)
        results.finish_run(run, "done")
    with open_results(tmp_path / "lab.duckdb") as results:
        assert results.histories(run) == arms
        stored = results.run(run)
    assert (stored.scenario, stored.yaml, stored.seed) == (
        "padded_scatter",
        "name: padded_scatter",
        7,
    )
    assert stored.versions == {"torch": "2.13.0"}
    assert (stored.status, stored.arms, stored.verdicts) == (RunStatus.DONE, tuple(ARMS), ())
    assert stored.wall_s == pytest.approx(3 * 14.25)


def test_an_arm_that_was_run_again_takes_the_place_of_the_one_of_its_name(tmp_path: Path) -> None:
    _, arms = sample_run()
    with open_results(tmp_path / "lab.duckdb") as results:
        run, other = (results.begin_run("padded_scatter", "", seed, {}) for seed in (7, 8))
        for arm in arms:
            results.save_arm(run, replace(arm, replies=arm.replies[:1], stalled="it died"))
            results.save_arm(other, arm)
        results.save_verdict(run, run_verdict(run, arms, ARMS), {})
        results.save_arm(run, arms[0])
        left = results.histories(run)
        assert [arm.name for arm in left] == list(ARMS)
        assert left[0] == arms[0] and left[1].stalled == "it died"
        assert results.histories(other) == arms
        assert results.run(run).verdicts == ()


def test_verdicts_and_findings_equal_what_was_saved_and_replace_the_earlier(tmp_path: Path) -> None:
    _, arms = sample_run()
    with open_results(tmp_path / "lab.duckdb") as results:
        run = results.begin_run("padded_scatter", "", 7, {})
        for arm in arms:
            results.save_arm(run, arm)
        found = {arm.name: findings(arm) for arm in arms}
        verdict = run_verdict(run, arms, ARMS)
        first, *others = verdict.arms
        told = {"caveat": "run with 24 of 60 sessions", "mismatches": ("index_k: 1", "c4: 2")}
        missed = {"sessions_missed": 3, "replies_missed": 4, "missed": {"dropped_call": 4}}
        more = {**missed, "sessions_silent": 2, "control": "one at a time"}
        wanted = replace(first, expected_violations=(VIOLATION,), **told, **more)
        verdict = replace(verdict, arms=(wanted, *others))
        results.save_verdict(run, verdict, {})
        results.save_verdict(run, verdict, found)
        results.finish_run(run, "done")
        assert results.verdict(run) == verdict
        assert results.findings(run) == found
        assert results.run(run).verdicts == ("corrupt", "clean", "clean")


def test_a_run_remembers_how_it_was_asked_for(tmp_path: Path) -> None:
    how = Asked(("kvlab", "run", "a.yaml", "--sessions", "5"), ("seed=1",), {"arm": 60})
    with open_results(tmp_path / "lab.duckdb") as results:
        run = results.begin_run("any", "", 0, {}, how)
        older = results.begin_run("any", "", 0, {})
        assert (results.run(run).asked, results.run(older).asked) == (how, Asked())


def test_a_run_without_a_verdict_says_how_to_get_one(tmp_path: Path) -> None:
    with open_results(tmp_path / "lab.duckdb") as results:
        run = results.begin_run("any", "", 0, {})
        with pytest.raises(StoreError, match=f"`kvlab judge {run}` makes it"):
            results.verdict(run)


def test_half_of_a_surrogate_pair_does_not_lose_the_arm(tmp_path: Path) -> None:
    broken = replace(reply(0, 0), raw_text="a\ud800b", tool_calls=({"arguments": "\ud800"},))
    arm = replace(history("one", sessions=1), replies=[broken])
    with open_results(tmp_path / "lab.duckdb") as results:
        run = results.begin_run("any", "", 0, {})
        results.save_arm(run, arm)
        (back,) = results.histories(run)[0].replies
    assert back.raw_text == "a\\ud800b"
    assert back.tool_calls == broken.tool_calls


def test_an_arm_of_many_batches_keeps_its_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "BATCH", 7)
    arm = history("big", corrupt=10, sessions=20)
    with open_results(tmp_path / "lab.duckdb") as results:
        run = results.begin_run("any", "", 0, {})
        results.save_arm(run, arm)
        assert results.histories(run) == [arm]
