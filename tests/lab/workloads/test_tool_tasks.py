"""Tasks over public tools: the prompt determines the call, whoever is asked."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from engine.events import EventLog
from engine.text.schema import violation
from lab.driver import Load
from lab.errors import ScenarioError, UserError
from lab.judging import judge_arm
from lab.planned import announce, context_of
from lab.records import ArmHistory, SessionPlan
from lab.scenario.loader import parse_scenario
from lab.workloads import resolve
from tests.lab.driver.servers import Body, run
from tests.lab.workloads.follower import answering, follower
from tests.lab.workloads.test_schemas import collection

RECORD = re.compile(r"\{\{record ([\w-]+)\}\}")


def plan(folder: Path, seed: int = 0, **given: Any) -> list[SessionPlan]:
    """The sessions of a load over made-up tools."""
    if not (folder / "a.json").exists():
        collection(folder)
    asked = {"data": str(folder), "sessions": 6, "turns": 3, **given}
    return resolve("tool_tasks", "small", asked).plan(seed)


def test_a_plan_depends_on_the_seed_alone_and_more_sessions_change_none(tmp_path: Path) -> None:
    found = plan(tmp_path)
    assert found == plan(tmp_path)
    assert found != plan(tmp_path, seed=1)
    assert found == plan(tmp_path, sessions=12)[:6]
    assert [it.index for it in found] == list(range(6))


def test_a_request_names_its_tool_and_every_value_or_the_record_that_holds_it(
    tmp_path: Path,
) -> None:
    for session in plan(tmp_path, sessions=12):
        records = dict(re.findall(r"^- ([\w-]+): (\w+)$", session.system, re.M))
        offered = {it["function"]["name"]: it["function"]["parameters"] for it in session.tools}
        for turn in session.turns:
            call = turn.expected_call
            asked = turn.prompt_messages[0]["content"]
            said = RECORD.sub(lambda name, of=records: of[name[1]], asked)
            assert call["name"] in asked
            for name, value in call["arguments"].items():
                assert f"{name}" in said and json.dumps(value) in said
            assert violation(call["arguments"], offered[call["name"]]) is None


def test_forms_and_ways_to_say_a_value_vary(tmp_path: Path) -> None:
    sessions = plan(tmp_path, sessions=12)
    asked = [turn.prompt_messages[0]["content"] for it in sessions for turn in it.turns]
    assert len({text.split()[0] for text in asked}) == 5
    assert 0 < sum("{{record" in text for text in asked) < len(asked)
    never = plan(tmp_path, lookup=0.0)
    assert not any("{{record" in t.prompt_messages[0]["content"] for s in never for t in s.turns)


def test_every_secret_is_owned_by_its_session_and_shared_records_by_their_group(
    tmp_path: Path,
) -> None:
    sessions = plan(tmp_path)
    log = EventLog(lambda: 0)
    announce(sessions, log)
    owners = context_of(log.events).owners
    for session in sessions:
        assert all(owners[word] == (session.index,) for word in session.secrets)
        group = tuple(it.index for it in sessions if it.group == session.group)
        codes = set(re.findall(r": (\w+)$", session.system, re.M)) - {*session.secrets}
        assert codes and all(owners[word] == group for word in sorted(codes))


def test_sessions_of_a_group_share_tools_and_the_start_of_their_prompt(tmp_path: Path) -> None:
    first, other, second = plan(tmp_path, groups=2)[:3]
    assert first.tools == second.tools
    shared = first.system.partition(first.secrets[0])[0]
    assert second.system.startswith(shared.rpartition("\n")[0])
    assert not other.system.startswith(shared.rpartition("\n")[0])


def judged(sessions: list[SessionPlan], spoil: Any = None) -> Any:
    """The verdict on a model that makes the due calls, but for what ``spoil`` changes."""
    answer = follower(sessions)

    def serve(body: Body) -> Any:
        call, n = answer(body), sum(m["role"] == "user" for m in body["messages"])
        return answering(spoil(call, n) if spoil else call)

    replies, log = run(serve, sessions, Load(concurrency=3, stream=False))
    announced = EventLog(lambda: 0)
    announce(sessions, announced)
    events = [*announced.events, *log.events]
    history = ArmHistory("a", {}, len(sessions), replies, {}, events, "", 0.0, 0.0)
    return judge_arm(history)[0]


def test_a_model_that_makes_the_due_calls_is_clean(tmp_path: Path) -> None:
    assert judged(plan(tmp_path)).verdict == "clean"


def test_a_model_that_calls_nothing_has_dropped_every_call_and_the_session_goes_on(
    tmp_path: Path,
) -> None:
    verdict = judged(plan(tmp_path), lambda call, n: "Done." if n == 2 else call)
    assert (verdict.missed, verdict.replies_due) == ({"dropped_call": 6}, 18)


def test_a_model_that_changes_a_value_is_wrong_in_that_value(tmp_path: Path) -> None:
    def spoil(call: Any, n: int) -> Any:
        return call | {"arguments": call["arguments"] | {"label": "X"}} if n == 1 else call

    assert judged(plan(tmp_path), spoil).missed == {"wrong_value": 6}


def test_the_bundled_model_is_not_asked_in_plain_words() -> None:
    text = "name: x\nworkload: {kind: tool_tasks}\narms: [{name: a}]\n"
    with pytest.raises(ScenarioError, match=r"x\.yaml:2: workload: the bundled model only follows"):
        parse_scenario(text, "x.yaml")


def test_a_missing_folder_is_one_line() -> None:
    with pytest.raises(UserError, match=r"^workload\.data: no folder nowhere; accepted: [^\n]*$"):
        resolve("tool_tasks", "small", {"data": "nowhere"}).plan(0)
