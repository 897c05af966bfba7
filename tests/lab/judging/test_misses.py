"""What a model of unknown texts misses: its own weakness unless its control misses less."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from lab.judging import judge_arm, judge_run
from lab.pools import control_of
from lab.records import NO_DIGEST
from lab.stats import fisher, fisher_more, newcombe, wilson
from tests.lab.judging.test_verdicts import arm, placed
from tests.lab.replies import EXPECTED_CALL, openai, strange

if TYPE_CHECKING:
    from lab.records import ArmHistory, ArmVerdict, Reply

MADE = (openai("get_record", '{"table": "MINE12345", "row": "OURS13579"}'),)
CALLED = strange(content=None, tool_calls=MADE, expected_call=EXPECTED_CALL)
DROPPED = strange(content="Done.", expected_call=EXPECTED_CALL)
LEAKED = strange(content="Done.<|im_end|>", tool_calls=MADE, expected_call=EXPECTED_CALL)
NOISE = strange(content="ok \u0434\u0430\ufffd\ufffd", tool_calls=MADE, expected_call=EXPECTED_CALL)
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
    control, loaded = judged(alone(22, 240), served(20, 240))
    assert (loaded.verdict, loaded.sessions_corrupt, loaded.outcomes) == ("clean", 0, {})
    assert (loaded.sessions_missed, loaded.replies_missed) == (20, 20)
    assert (loaded.missed, loaded.control) == ({"dropped_call": 20}, "concurrency=1")
    assert (loaded.rate_missed, loaded.ci95_missed) == (20 / 240, wilson(20, 240))
    p = fisher_more(20, 240, 22, 240)
    assert loaded.reason == (
        "20 of 240 sessions missed a call; the control at concurrency 1 misses as many "
        f"(22 of 240, p = {p:.2g})"
    )
    assert control.control == ""


def test_as_many_as_the_control_is_not_clean_where_many_more_are_not_excluded() -> None:
    loaded = judged(alone(11), served(14))[1]
    assert loaded.verdict == "inconclusive"
    assert (
        "17 points more than the control's are not excluded; only 24 of 60 or more would show"
        in (loaded.reason)
    )


@pytest.mark.parametrize(("missed", "verdict"), [(1, "clean"), (4, "inconclusive")])
def test_a_control_is_clean_only_where_it_misses_little(missed: int, verdict: str) -> None:
    (control,) = judged(alone(missed, 64))
    assert control.verdict == verdict
    assert control.reason.startswith(f"{missed} of 64 sessions missed a call: taken for what the")
    same = "a fault at every load would look the same"
    assert control.reason.endswith(same) == (verdict == "inconclusive")


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


def test_a_flag_that_is_sick_at_every_load_leaves_no_arm_with_it_clean() -> None:
    on, off, control = judged(
        served(26, 64, cachex=True), served(0, 64, cachex=False), alone(13, 32, cachex=True)
    )
    assert [it.verdict for it in (on, off, control)] == ["inconclusive", "clean", "inconclusive"]
    assert "26 of 64 sessions missed a call, 0 of 64 in 'concurrency=60 cachex=False'" in on.reason
    assert "which differs in cachex (p < 0.0001): not chance; corruption at every" in on.reason
    assert "0 of 64 in" in control.reason


def test_a_model_that_a_flag_makes_weaker_is_not_called_corrupt() -> None:
    control, fp8 = judged(alone(0, 64, kv="bf16"), served(20, 64, kv="fp8"))
    assert (control.verdict, fp8.verdict, fp8.control) == ("clean", "inconclusive", "")
    assert "which differs in concurrency, kv" in fp8.reason
    few = judged(alone(1, 64, kv="bf16"), served(4, 64, kv="fp8"))[1]
    assert few.reason.endswith("to compare with ('concurrency=1 kv=bf16', 1 of 64, differs in kv)")


def test_two_loads_without_a_control_are_not_both_called_the_same() -> None:
    low, high = judged(served(0, 32, concurrency=4), served(22, 32, concurrency=16))
    assert (low.verdict, high.verdict) == ("clean", "inconclusive")
    assert "0 of 32 in 'concurrency=4', which differs in concurrency (p < 0.0001)" in high.reason


def test_two_arms_at_concurrency_1_may_differ_and_neither_is_the_other_s_control() -> None:
    on, off = judged(alone(14, prefix_caching=True), alone(1, prefix_caching=False))
    assert (on.verdict, off.verdict) == ("inconclusive", "clean")
    assert "1 of 60 in 'concurrency=1 prefix_caching=False'" in on.reason


def test_the_control_has_the_flags_of_the_arm_and_is_asked_one_at_a_time() -> None:
    many = [{"concurrency": n, "graph": g} for n, g in [(1, 0), (1, 1), (8, 1), (8, 2)]]
    assert [control_of(many, at) for at in range(4)] == [0, 1, 1, None]
    assert control_of([{"concurrency": 8}, {}], 1) is None
    leaving = [{"concurrency": 1}, {"concurrency": 8, "abort_rate": 0.1}]
    assert control_of(leaving, 1) == 0


def test_arms_that_are_compared_share_the_level_of_error() -> None:
    p = fisher_more(11, 60, 2, 60)
    assert 0.01 / 2 < p < 0.01
    assert judged(alone(2), served(11))[1].verdict == "corrupt"
    several = judged(alone(2), served(11), served(3, concurrency=8))
    assert [it.verdict for it in several] == ["clean", "inconclusive", "clean"]
    stronger = judged(alone(2), served(11), served(20, concurrency=8))
    assert [it.verdict for it in stronger[1:]] == ["corrupt", "corrupt"]  # Holm, not Bonferroni


def test_repetitions_are_held_against_the_control_together() -> None:
    arms = []
    for again, missed in enumerate((5, 5, 4), start=1):
        for one in (alone(0, 24), served(missed, 24)):
            name = one.name + (f" #{again}" if again > 1 else "")
            arms.append(replace(one, name=name, history_digest=NO_DIGEST))
    found = judged(*arms)
    assert [it.verdict for it in found] == ["clean", "corrupt"] * 3
    assert found[1].reason.startswith("14 of 72 sessions missed a call in 3 repetitions, the contr")
    assert [it.verdict for it in judged(*arms[:2])] == ["clean", "inconclusive"]


def test_comparisons_count_what_was_missed_beside_what_is_corrupt() -> None:
    pair = judge_run("r", "s", 0, (alone(1), served(14)), None)[0].comparisons[0]
    assert (pair.p_value, pair.p_value_missed) == (1.0, fisher(1, 60, 14, 60))
    assert pair.difference_ci95_missed == newcombe(1, 60, 14, 60)
    none = judge_run("r", "s", 0, (alone(0), served(0)), None)[0].comparisons[0]
    assert none.p_value_missed is None


def test_another_session_s_words_are_corrupt_without_a_control() -> None:
    history = served(1, bad=OTHERS_WORDS)
    words = {"session": 3, "group": 0, "words": "THEIRS6789"}
    history.events += [(0, "session_planned", words)]
    (found,) = judged(history)
    assert (found.verdict, found.sessions_corrupt, found.sessions_missed) == ("corrupt", 1, 0)


def test_markup_that_leaks_as_often_one_at_a_time_is_the_model_s() -> None:
    weak = judged(alone(3, 64, bad=LEAKED), served(3, 64, bad=LEAKED), served(2, 64, bad=LEAKED))
    assert "corrupt" not in [it.verdict for it in weak]
    assert judged(alone(1, 64, bad=LEAKED), served(20, 64, bad=LEAKED))[1].verdict == "corrupt"


def test_a_server_that_shows_every_call_was_told_no_parser() -> None:
    for found in judged(alone(16, 16, bad=LEAKED), served(64, 64, bad=LEAKED)):
        assert found.verdict == "parser_fault"
        assert found.reason.startswith("no tool parser configured? ")


def test_a_server_that_shows_thoughts_has_one_remark_of_it() -> None:
    thinks = replace(CALLED, content="<think>\nCall it. </think> is next.\n</think>\n\n")
    (found,) = judged(served(60, bad=thinks))
    assert (found.verdict, found.sessions_missed) == ("clean", 0)
    assert found.reason == "no reasoning parser configured? 60 of 60 replies show their thought"


def test_noise_that_the_control_has_as_often_is_said_of_it() -> None:
    both = judged(alone(6, 12, bad=NOISE), served(30, bad=NOISE))
    assert [it.verdict for it in both] == ["corrupt", "corrupt"]
    assert both[1].reason == (
        "the control at concurrency 1, 'concurrency=1', has script_mix too (6 of 12 sessions, "
        "p = 1): no fault of load alone"
    )
    more = judged(alone(1, 16, bad=NOISE), served(42, bad=NOISE))[1]
    assert more.reason.endswith("has script_mix too (1 of 16 sessions, p < 0.0001), and fewer")
    assert judged(served(1, bad=NOISE))[0].reason.startswith("no control at concurrency 1")


def test_sessions_of_which_nothing_came_are_in_no_rate() -> None:
    lost = [
        placed(replace(CALLED, status=how, content=None, tool_calls=()), n)
        for n, how in enumerate(["transport_error"] * 20 + ["timeout"] * 10, start=100)
    ]
    history = served(6, bad=NOISE)
    history.replies += lost
    (found,) = judged(history)
    assert (found.sessions, found.sessions_silent, found.sessions_judged) == (90, 30, 60)
    assert (found.rate, found.replies_due, found.unfinished) == (0.1, 90, 30)
    whole = judged(served(6, bad=NOISE))[0]
    assert found.ci95 == whole.ci95
    late = judged(alone(0), replace(history, settings={"concurrency": 60}))
    early = judged(alone(0), served(6, bad=NOISE))
    assert late[1].sessions_judged == early[1].sessions_judged


def test_a_wrong_start_of_a_reply_that_was_aborted_shows_something() -> None:
    cut = replace(OTHERS_WORDS, finish_reason="abort")
    history = served(1, 2, bad=cut)
    history.events += [(0, "session_planned", {"session": 3, "group": 0, "words": "THEIRS6789"})]
    (found,) = judged(history)
    assert (found.sessions_judged, found.sessions_corrupt) == (2, 1)
