"""`show --rooms`: a stored run's rooms, the worst first."""

from __future__ import annotations

import pytest

from tests.lab.commands.conftest import FakeTrial
from tests.lab.disaggregated import disaggregated, late_write
from tests.lab.report.test_table import cells

pytestmark = pytest.mark.usefixtures("folder")

PAIR, PLAIN = "fp8, graph on", "bf16, graph on"
WROTE = {
    **{"writer_room": 2, "victim_room": 5, "victim": "request 1005"},
    **{"piece": "kv", "unit": "page", "first": 301, "pages": 1, "rows": 256},
    **{"pools": "c4, index_k, c128", "writer_session": 1, "writer_turn": 0},
    **{"victim_session": 4, "victim_turn": 0, "bystander": True},
}


@pytest.fixture
def run(trial: FakeTrial, kvlab) -> str:
    """A stored run of which one arm had rooms, and a write that came late."""
    made = disaggregated(PAIR)
    made.events.append(late_write(2, 5, 301))
    trial.rooms[PAIR] = made
    return str(kvlab("run", "good.yaml", "--json", "--sessions", "5").json["run"])


def test_rooms_of_every_arm_are_shown_and_of_others_that_they_have_none(run: str, kvlab) -> None:
    said = kvlab("show", run, "--rooms")
    assert said.code == 0
    assert f"{PLAIN}: not disaggregated (pd is off), so it has no rooms." in said.out
    assert "index_k 1, 101 -> 301" in said.out


def test_rooms_of_one_arm_hold_no_other_s(run: str, kvlab) -> None:
    assert PLAIN not in kvlab("show", "--rooms", "--arm", PAIR).out


def test_the_limit_counts_rooms(run: str, kvlab) -> None:
    said = kvlab("show", "--rooms", "--arm", PAIR, "--limit", "1").out
    assert "5 more; --limit N shows more" in said and cells(said, "2")
    assert "more; --limit" not in kvlab("show", "--rooms", "--arm", PAIR).out


def test_rooms_as_json_are_one_object_an_arm(run: str, kvlab) -> None:
    document = kvlab("show", "--rooms", "--json", "--limit", "3").json
    plain, pair, _ = document["arms"]
    assert document["run"] == run and not plain["disaggregated"] and plain["rooms"] == []
    assert [made["room"] for made in pair["rooms"]] == [2, 5, 4]
    assert pair["summary"]["pages_different"] == 1
    assert pair["summary"]["late_writes"] == [WROTE]
    shown = kvlab("show", "--json").json
    assert [arm["name"] for arm in document["arms"]] == [arm["name"] for arm in shown["arms"]]
    assert document["verdicts"] == shown["verdicts"]


def test_rooms_of_one_arm_as_json_are_that_arm_s_alone(run: str, kvlab) -> None:
    document = kvlab("show", "--rooms", "--json", "--arm", PAIR).json
    assert [arm["name"] for arm in document["arms"]] == [PAIR]
    assert document["verdicts"] == kvlab("show", "--json", "--arm", PAIR).json["verdicts"]


def test_an_unknown_arm_s_rooms_are_told(run: str, kvlab) -> None:
    said = kvlab("show", "--rooms", "--arm", "fp8")
    assert said.code == 2 and "no such arm" in said.err


def test_rooms_of_a_session_are_its_own(run: str, kvlab) -> None:
    said = kvlab("show", "--rooms", "--arm", PAIR, "--session", "4")
    assert said.code == 0 and cells(said.out, "5")[0] == "4/0"
    document = kvlab("show", "--rooms", "--arm", PAIR, "--session", "4", "--json").json
    assert [it["room"] for it in document["arms"][0]["rooms"]] == [5]


def test_what_the_columns_mean_is_told_once(run: str, kvlab) -> None:
    assert kvlab("show", "--rooms").out.count("free while    from when") == 1
    assert "from when" not in kvlab("show", "--rooms", "--arm", PLAIN).out


def test_a_reply_says_its_room_and_who_hit_it(trial: FakeTrial, run: str, kvlab) -> None:
    trial.corrupt[PAIR] = 5
    kvlab("run", "good.yaml", "--json", "--sessions", "5")
    found = kvlab("show", "--session", "4").out
    assert "session 4, turn 0: ok" in found and "request chatcmpl-1005, room 5" in found
    who = "room 2 (session 1, turn 0): page 301 (256 rows of c4, index_k, c128)"
    assert f"  hit by {who}" in found
    (case,) = kvlab("show", "--session", "4", "--json").json["failed"]
    assert case["room"] == 5 and case["hit_by"] == [who]


def test_judging_again_keeps_rooms_and_late_writes(run: str, kvlab) -> None:
    first = kvlab("report", "--json").json
    assert kvlab("judge", "--json").json == first
    told = {arm["name"]: arm["late_writes"] for arm in first["arms"]}
    assert told[PAIR] == [WROTE]
    assert told[PLAIN] == []
