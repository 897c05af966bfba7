"""An arm that is ended by whoever watches it keeps what it had by then, and nothing after."""

from __future__ import annotations

import pytest

from engine.events import REMARKS, Event
from lab.records import ArmHistory
from lab.scenario.loader import parse_scenario
from lab.targets import Watch
from lab.trial import run_arm

FILE = """
name: halved
build: [index_k_under_allocated]
workload: {kind: tool_sessions, preset: small, sessions: 2, turns: 1}
engine: {index_k: bf16, concurrency: 2}
arms: [{name: any}]
"""


def ran(watch: Watch | None = None) -> ArmHistory:
    scenario = parse_scenario(FILE, "halved.yaml")
    return run_arm(scenario, scenario.arms[0], 0, watch=watch)


@pytest.fixture(scope="module")
def whole() -> ArmHistory:
    return ran()


def test_it_ends_at_the_event_that_its_watch_names(whole: ArmHistory) -> None:
    ended = ran(lambda event: event.kind == "violation")
    at, kind, fields = ended.events[-1]
    assert kind == "violation"
    assert ended.events == whole.events[: len(ended.events)]
    assert ended.counters["violation:row_shared_by_two_slots"] == fields["n"]
    assert round(ended.virtual_s * 1e9) == at < whole.virtual_s * 1e9
    assert {reply.status for reply in ended.replies} == {"timeout"}
    assert "the arm was ended at" in str(ended.replies[0].error)


def test_the_reply_at_which_it_ends_is_kept_and_no_later_one(whole: ArmHistory) -> None:
    ended = ran(lambda event: event.kind == "reply")
    assert [reply.status for reply in ended.replies].count("ok") == 1
    assert ended.events == whole.events[: len(ended.events)]


def test_a_watch_that_never_ends_it_changes_nothing_and_hears_all_but_remarks(
    whole: ArmHistory,
) -> None:
    heard: list[Event] = []
    ended = ran(lambda event: bool(heard.append(event)))
    assert ended.history_digest == whole.history_digest
    assert heard == [event for event in whole.events if event[1] not in REMARKS]
