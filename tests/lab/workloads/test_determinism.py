"""The same question four times: a reply that is another one is nondeterminism, nothing worse."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from engine.events import EventLog
from lab.driver import Load
from lab.judging import judge_arm
from lab.planned import announce
from lab.records import ArmHistory, ArmVerdict, Finding
from lab.scenario.loader import parse_scenario
from lab.trial import run_arm
from lab.workloads import resolve
from tests.lab.driver.servers import Body, run
from tests.lab.workloads.follower import answering
from tests.lab.workloads.plans import plan

FORMS = pytest.mark.parametrize("form", ["natural", "manual"])


@FORMS
def test_a_question_is_asked_cold_warm_in_a_flood_and_after_it(form: str) -> None:
    sessions = plan("determinism", sessions=14, flood=3, form=form)
    phases = [it.repeats.phase for it in sessions if it.repeats]
    assert phases[:7] == ["cold", "warm", "in a flood", "flood", "flood", "flood", "evicted"]
    assert phases == phases[:7] * 2
    stages = [it.stages.of_turn[0] for it in sessions if it.stages]
    assert stages == [0, 1, 2, 2, 2, 2, 3, 4, 5, 6, 6, 6, 6, 7]
    asked = [(it.system, it.turns) for it in sessions]
    assert asked[0] == asked[1] == asked[2] == asked[6]
    assert len({text for text, _ in asked}) == 8


@FORMS
def test_a_question_s_words_belong_to_those_who_ask_it(form: str) -> None:
    first, *_ = sessions = plan("determinism", sessions=7, flood=3, form=form)
    assert [it.group for it in sessions] == [0, 0, 0, 3, 4, 5, 0]
    assert first.secrets == ()


def judged(say: Any, sessions: int = 16) -> tuple[ArmVerdict, list[Finding]]:
    """The verdict on a server that answers the n-th request for a prompt as ``say`` says."""
    plans = resolve("determinism", "small", {"sessions": sessions, "prompt_tokens": 20}).plan(0)
    seen: Counter[str] = Counter()

    def serve(body: Body) -> Any:
        assert "tools" not in body and body["temperature"] == 0
        text = body["messages"][0]["content"]
        seen[text] += 1
        return answering(say(text, seen[text]))

    replies, log = run(serve, plans, Load(stream=False))
    announced = EventLog(lambda: 0)
    announce(plans, announced)
    events = [*announced.events, *log.events]
    return judge_arm(ArmHistory("a", {}, sessions, replies, {}, events, "", 0.0, 0.0))


def test_equal_replies_are_clean_whatever_they_say() -> None:
    verdict, findings = judged(lambda text, n: f"Noise</think> мир 世界 là {text[:9]}")
    assert (verdict.verdict, findings) == ("clean", [])
    told = "asked cold, warm: 0 of 2 differ, in a flood: 0 of 2 differ, evicted: 0 of 2 differ"
    assert verdict.reason == f"{told}; no cached token was told of"


def test_another_reply_after_eviction_is_nondeterminism_at_its_first_other_character() -> None:
    verdict, findings = judged(lambda text, n: "the same, but for thus" if n == 4 else "the same.")
    assert verdict.verdict == "nondeterministic"
    assert verdict.sessions_corrupt == 0
    assert [(f.session, f.kind) for f in findings] == [
        (7, "nondeterministic"),
        (15, "nondeterministic"),
    ]
    assert findings[0].detail == "asked evicted, differs from session 0 at character 8"
    assert "warm: 0 of 2 differ" in verdict.reason and "evicted: 2 of 2 differ" in verdict.reason


def test_the_words_of_another_question_are_corruption_all_the_same() -> None:
    heard: list[str] = []

    def say(text: str, n: int) -> str:
        heard.append(text.split()[3])
        return f"It is {heard[0]}"

    verdict, findings = judged(say)
    assert verdict.verdict == "corrupt"
    assert {f.detector for f in findings} == {"foreign_secret"}


def test_without_a_first_reply_there_is_nothing_to_differ_from() -> None:
    plans = resolve("determinism", "small", {"prompt_tokens": 20}).plan(0)
    served: list[str] = []

    def serve(body: Body) -> Any:
        served.append("x")
        if len(served) == 1:
            raise RuntimeError("down")
        return answering(f"reply {len(served)}")

    replies, log = run(serve, plans, Load(stream=False))
    announced = EventLog(lambda: 0)
    announce(plans, announced)
    history = ArmHistory("a", {}, 8, replies, {}, [*announced.events, *log.events], "", 0.0, 0.0)
    verdict, _ = judge_arm(history)
    assert verdict.verdict == "inconclusive" and "differ" not in verdict.reason


def test_the_bundled_engine_answers_alike_cold_warm_in_a_flood_and_evicted() -> None:
    load = "{kind: determinism, preset: small_dirty, form: manual}"
    text = f"name: x\nworkload: {load}\narms: [{{name: a}}]\n"
    scenario = parse_scenario(text, "x.yaml")
    history = run_arm(scenario, scenario.arms[0], 0)
    verdict, findings = judge_arm(history)
    assert (verdict.verdict, findings) == ("clean", [])
    assert verdict.reason.startswith("asked cold (0 % cached), warm: 0 of 1 differ (9")
    cached = [reply.cached_tokens / reply.prompt_tokens for reply in history.replies]
    assert cached[0] == 0 and min(cached[1:3]) > 0.8
    assert cached[7] < 0.3  # the flood took its pages
