"""A load of which only some sessions are run."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.errors import ScenarioError
from lab.judging import judge_arm
from lab.scenario.loader import parse_scenario
from lab.scenario.models import Scenario
from lab.trial import run_arm
from lab.workloads import resolve

FILE = """
name: some
workload: {{kind: tool_sessions, preset: small, turns: 1, only: {only}}}
arms: [{{name: a}}]
"""


def scenario(only: str) -> Scenario:
    return parse_scenario(FILE.format(only=only), "some.yaml")


def test_whoever_is_kept_says_what_it_says_among_all() -> None:
    some = resolve("tool_sessions", "small", {"only": [1, 6]})
    every = resolve("tool_sessions", "small", {})
    plans = every.plan(3)
    assert some.kept(3) == [plans[1], plans[6]]
    assert every.kept(3) == plans


def test_a_session_of_fewer_turns_says_the_same_in_those_that_it_has() -> None:
    some = resolve("round_robin", "small", {"only": [6, 1], "only_turns": [1, 2]})
    one, six = some.kept(3)
    every = resolve("round_robin", "small", {}).plan(3)
    assert one == every[1]
    assert six.turns == every[6].turns[:1]
    assert six.think_s == every[6].think_s[:1]
    assert six.stages is not None and six.stages.of_turn == (0,)


def test_an_arm_runs_the_named_sessions_and_no_other() -> None:
    found = scenario("[5, 2]")
    history = run_arm(found, found.arms[0], found.seed)
    assert history.sessions == 2
    assert [reply.session for reply in history.replies] == [2, 5]
    assert judge_arm(history)[0].verdict == "clean"


@pytest.mark.parametrize(
    ("only", "said"),
    [
        ("[8]", "some.yaml:3: workload: only: no session 8; accepted: 0 to 7"),
        ("[]", "some.yaml:3: workload.only: is empty"),
        ("[3], only_turns: [1, 1]", "some.yaml:3: workload: only_turns: 2 numbers for 1 sessions"),
        ("[3], only_turns: [0]", "some.yaml:3: workload.only_turns.0: 0 is not accepted"),
        ("3", "some.yaml:3: workload.only: 3 is not accepted; accepted: a list"),
    ],
)
def test_a_session_that_is_not_planned_is_one_line(only: str, said: str) -> None:
    with pytest.raises(ScenarioError) as error:
        scenario(only)
    assert str(error.value).startswith(said)
    assert "\n" not in str(error.value)


def test_the_schema_knows_the_key() -> None:
    text = Path("scenarios/schema.json").read_text(encoding="utf-8")
    assert '"only"' in text and '"only_turns"' in text
