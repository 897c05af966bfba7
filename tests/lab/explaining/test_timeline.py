"""When a token was computed and heard, by the steps that were launched since the first one."""

from __future__ import annotations

from dataclasses import replace

from lab.explaining.timeline import SLACK_NS, Timeline
from tests.lab.explaining.histories import NS, arm, bad


def test_a_token_is_computed_by_a_step_and_heard_when_the_next_one_is_launched() -> None:
    line = Timeline(arm())
    made = bad(0, 0, 6)
    assert line.computed_ns(made, 1, 6) == round(1.05 * NS) + SLACK_NS
    assert line.heard_ns(made, 1, 6) == round(1.06 * NS) + SLACK_NS


def test_nothing_is_heard_after_the_reply_s_end() -> None:
    assert Timeline(arm()).heard_ns(bad(0, 0, 6), 1, 900) == round(1.6 * NS) + SLACK_NS


def test_the_first_token_is_the_prefill_s() -> None:
    assert Timeline(arm()).heard_ns(bad(0, 0, 6), 1, 0) == NS + SLACK_NS


def test_a_reply_that_never_began_has_its_end_and_one_without_that_nothing() -> None:
    never = replace(bad(0, 0, 6), first_token_s=None)
    assert Timeline(arm()).heard_ns(never, 1, 3) == round(1.6 * NS) + SLACK_NS
    assert Timeline(arm()).heard_ns(replace(never, done_s=None), 1, 3) is None


def test_what_is_heard_after_a_retraction_is_counted_back_from_the_end() -> None:
    made = replace(bad(0, 0, 6), done_s=3.0)  # 60 tokens
    line = Timeline(arm(events=((round(1.04 * NS), "retract", {"request": 1, "output": 5}),)))
    assert line.heard_ns(made, 1, 4) == round(1.04 * NS) + SLACK_NS
    assert line.heard_ns(made, 1, 6) == round((3.0 - 0.53) * NS) + SLACK_NS
    assert line.heard_ns(made, 2, 6) == round(1.06 * NS) + SLACK_NS


def test_what_is_heard_between_two_retractions_was_there_by_the_second() -> None:
    gone = [
        (round(at * NS), "retract", {"request": 1, "output": n}) for at, n in ((1.1, 5), (2, 9))
    ]
    made = replace(bad(0, 0, 6), done_s=3.0)
    assert Timeline(arm(events=tuple(gone))).heard_ns(made, 1, 6) == 2 * NS + SLACK_NS
