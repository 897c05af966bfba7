"""What a model of unknown texts misses: its own weakness unless its control misses less."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from lab.judging import judge_arm, judge_run
from lab.misses import control_of
from lab.stats import fisher_more
from tests.lab.judging.test_verdicts import arm, placed
from tests.lab.replies import EXPECTED_CALL, openai, strange

if TYPE_CHECKING:
    from lab.records import ArmHistory, ArmVerdict, Reply

MADE = (openai("get_record", '{"table": "MINE12345", "row": "OURS13579"}'),)
CALLED = strange(content=None, tool_calls=MADE, expected_call=EXPECTED_CALL)
DROPPED = strange(content="Done.", expected_call=EXPECTED_CALL)
LEAKED = strange(content="Done.<|im_end|>", tool_calls=MADE, expected_call=EXPECTED_CALL)
OTHERS_WORDS = strange(content="It is THEIRS6789.", tool_calls=MADE, expected_call=EXPECTED_CALL)


def served(
    missed: int, sessions: int = 60, concurrency: int = 60, bad: Reply = DROPPED, **settings: Any
) -> ArmHistory:
    """An arm of a server whose model misses in so many sessions."""
    replies = [placed(bad if n < missed else CALLED, n) for n in range(sessions)]
    found = {"concurrency": concurrency, **settings}
    name = " ".join(f"{key}={value}" for key, value in found.items())
    return arm(*replies, name=name, settings=found, counters={})


def judged(*arms: ArmHistory) -> list[ArmVerdict]:
    return list(judge_run("r", "s", 0, arms, None)[0].arms)


def alone(missed: int, sessions: int = 60, **settings: Any) -> ArmHistory:
    return served(missed, sessions, 1, **settings)


def test_a_weak_model_is_clean_where_its_control_misses_as_many() -> None:
    control, loaded = judged(alone(11), served(10))
    assert (loaded.verdict, loaded.sessions_corrupt, loaded.outcomes) == ("clean", 0, {})
    assert (loaded.sessions_missed, loaded.replies_missed) == (10, 10)
    assert (loaded.missed, loaded.control) == ({"dropped_call": 10}, "concurrency=1")
    p = fisher_more(10, 60, 11, 60)
    assert loaded.reason == (
        "10 of 60 sessions missed a call; the control at concurrency 1 misses as many "
        f"(11 of 60, p = {p:.2g})"
    )
    assert (control.verdict, control.control) == ("clean", "")
    assert control.reason.startswith("11 of 60 sessions missed a call: taken for what the model")


def test_more_than_the_control_is_corrupt_and_both_counts_are_told() -> None:
    _, loaded = judged(alone(1), served(14))
    assert (loaded.verdict, loaded.sessions_corrupt, loaded.rate) == ("corrupt", 0, 0.0)
    assert loaded.reason == (
        "14 of 60 sessions missed a call, the control at concurrency 1, 'concurrency=1', 1 of 60 "
        f"(p = {fisher_more(14, 60, 1, 60):.2g})"
    )


@pytest.mark.parametrize(("missed", "control"), [(10, (0, 12)), (3, (0, 12)), (12, (4, 60))])
def test_more_than_the_control_that_may_be_chance_is_not_clean(
    missed: int, control: tuple[int, int]
) -> None:
    loaded = judged(alone(*control), served(missed))[1]
    assert loaded.verdict == "inconclusive"
    assert "too few sessions to tell" in loaded.reason


def test_without_a_control_nobody_knows() -> None:
    (loaded,) = judged(served(10))
    assert (loaded.verdict, loaded.reason) == (
        "inconclusive",
        "10 of 60 sessions missed a call; no control at concurrency 1 to compare with",
    )
    assert judge_arm(served(10))[0] == loaded
    assert judged(served(0))[0].verdict == "clean"


def test_a_load_of_which_the_model_misses_most_tells_nothing_of_it() -> None:
    for found in judged(alone(8, 12), served(40)):
        assert found.verdict == "inconclusive"
        assert "asks too much of the model" in found.reason


def test_two_arms_at_concurrency_1_are_held_against_each_other() -> None:
    on, off = judged(alone(14, prefix_caching=True), alone(1, prefix_caching=False))
    assert (on.verdict, on.control) == ("corrupt", off.name)
    assert (off.verdict, off.control) == ("clean", on.name)


def test_the_control_is_the_arm_that_is_equal_but_for_the_load() -> None:
    many = [{"concurrency": n, "graph": g} for n, g in [(1, 0), (1, 1), (8, 1), (8, 2)]]
    assert [control_of(many, at) for at in range(4)] == [1, 0, 1, 0]
    assert control_of([{"concurrency": 8}, {}], 1) is None


def test_arms_that_are_compared_share_the_level_of_error() -> None:
    p = fisher_more(11, 60, 2, 60)
    assert 0.01 / 2 < p < 0.01
    assert judged(alone(2), served(11))[1].verdict == "corrupt"
    several = judged(alone(2), served(11), served(11, concurrency=8))
    assert [it.verdict for it in several] == ["clean", "inconclusive", "inconclusive"]


@pytest.mark.parametrize("bad", [LEAKED, OTHERS_WORDS])
def test_what_no_healthy_model_writes_is_corrupt_without_a_control(bad: Reply) -> None:
    history = served(1, bad=bad)
    words = {"session": 3, "group": 0, "words": "THEIRS6789"}
    history.events += [(0, "session_planned", words)]
    (found,) = judged(history)
    assert (found.verdict, found.sessions_corrupt, found.sessions_missed) == ("corrupt", 1, 0)


def test_what_the_control_shows_as_well_is_said_of_it() -> None:
    both = judged(alone(6, 12, bad=LEAKED), served(30, bad=LEAKED))
    assert [it.verdict for it in both] == ["corrupt", "corrupt"]
    assert both[1].reason == (
        "the control at concurrency 1, 'concurrency=1', has leaked_qwen too (6 of 12 sessions): "
        "no fault of load alone"
    )
    assert judged(served(1, bad=LEAKED))[0].reason.startswith("no control at concurrency 1")


def test_sessions_of_which_nothing_came_are_in_no_rate() -> None:
    lost = [
        placed(replace(CALLED, status=how, content=None, tool_calls=()), n)
        for n, how in enumerate(["transport_error"] * 20 + ["timeout"] * 10, start=100)
    ]
    history = served(6, bad=LEAKED)
    history.replies += lost
    (found,) = judged(history)
    assert (found.sessions, found.sessions_silent, found.sessions_judged) == (90, 30, 60)
    assert (found.rate, found.replies_due, found.unfinished) == (0.1, 90, 30)
    whole = judged(served(6, bad=LEAKED))[0]
    assert found.ci95 == whole.ci95
    late = judged(alone(0), replace(history, settings={"concurrency": 60}))
    early = judged(alone(0), served(6, bad=LEAKED))
    assert late[1].sessions_judged == early[1].sessions_judged


def test_a_wrong_start_of_a_reply_that_was_aborted_shows_something() -> None:
    cut = replace(OTHERS_WORDS, finish_reason="abort")
    history = served(1, 2, bad=cut)
    history.events += [(0, "session_planned", {"session": 3, "group": 0, "words": "THEIRS6789"})]
    (found,) = judged(history)
    assert (found.sessions_judged, found.sessions_corrupt) == (2, 1)
