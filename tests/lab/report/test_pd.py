"""A disaggregated arm's line in every report of a run."""

from __future__ import annotations

from dataclasses import replace

from lab.judging import judge_arm
from lab.records import ArmVerdict, LateWrite
from lab.report.pd import pd_lines
from lab.report.rooms import summary_line
from lab.report.table import run_report
from lab.rooms import Seen
from lab.store import RoomPages
from tests.lab.disaggregated import LATE, disaggregated, room
from tests.lab.report.test_table import printed
from tests.lab.samples import arm_verdict, history, sample_run

COUNTED = {"rooms": 240, "rooms_failed": 72}
REASONS = {"timed out in WaitingForInput": 69, "aborted by the client": 3}


def pair(**changed: object) -> ArmVerdict:
    """A verdict on a disaggregated arm."""
    made = arm_verdict(history("pd"), corrupt=0)
    told = {"exposure": COUNTED, "room_failures": REASONS, **changed}
    return replace(made, settings={**made.settings, "pd": True}, **told)


def wrote(writer: int, **changed: object) -> LateWrite:
    made = LateWrite(writer, writer + 1, "request 7", "kv", "page", 3, 1, 8)
    return replace(made, **changed)


def test_it_says_how_many_rooms_failed_and_of_what() -> None:
    assert pd_lines([pair()]) == [
        "rooms: 240, 72 failed (timed out in WaitingForInput 69, aborted by the client 3); "
        'no late write into an owned page (arm "pd")'
    ]


def test_it_says_how_often_clients_asked_again() -> None:
    (line,) = pd_lines([pair(exposure={**COUNTED, "client_retries": 40})])
    assert "aborted by the client 3), 40 asked again; no late write" in line


def test_rooms_of_a_wedged_arm_have_no_end() -> None:
    told = {"rooms": 168, "rooms_failed": 2, "rooms_without_end": 165, "client_retries": 160}
    (line,) = pd_lines([pair(exposure=told, room_failures={"aborted by the client": 2})])
    assert "rooms: 168, 2 failed (aborted by the client 2), 165 without an end, 160 asked" in line


def test_a_run_s_line_and_its_rooms_count_the_same_rooms() -> None:
    made = disaggregated("pd")
    made.rooms += [replace(it, rank=1) for it in made.rooms]
    made.rooms += [replace(room(n), decode={}, outcome="open") for n in (7, 8)]
    (line,) = pd_lines([judge_arm(made)[0]])
    shown = summary_line([Seen(it, RoomPages(0, 0, None)) for it in made.rooms])
    ends = "1 failed (timed out in WaitingForInput 1), 2 without an end"
    assert line.startswith(f"rooms: 8, {ends};")
    assert shown.startswith(f"rooms 8: 5 succeeded, {ends};")


def test_it_names_the_first_writers_and_their_victims() -> None:
    told = tuple(wrote(n, pages=2) for n in range(5))
    (line,) = pd_lines([pair(violations={LATE: 10}, late_writes=told)])
    assert (
        "; 10 late writes: room 0 into room 1 (request 7): page 3 and 1 more (8 rows of kv); "
        in line
    )
    assert "room 2 into room 3" in line and "room 3 into" not in line
    assert line.endswith('; and 2 more pairs of rooms (arm "pd")')


def test_pages_and_request_slots_of_one_victim_are_told_apart() -> None:
    slot = wrote(1, piece="state", unit="request slot", first=5, rows=128, pools="c128_state")
    told = (wrote(1, first=70, pages=3, rows=1_600), slot, wrote(4, victim_room=0, victim="cache"))
    (line,) = pd_lines([pair(violations={LATE: 5}, late_writes=told)])
    assert (
        "room 1 into room 2 (request 7): page 70 and 2 more (1,600 rows of kv), "
        "request slot 5 (128 rows of c128_state); room 4 into cache: page 3 (8 rows of kv)"
    ) in line


def test_arms_of_which_the_same_is_to_be_said_share_a_line() -> None:
    alike, plain = replace(pair(), name="twin"), arm_verdict(history("plain"), corrupt=0)
    (line,) = pd_lines([pair(), alike, plain])
    assert line.endswith('(arms "pd", "twin")')
    (line,) = pd_lines([pair(), alike])
    assert line.endswith("(every arm)")


def test_an_arm_that_is_one_engine_has_no_line() -> None:
    assert pd_lines([arm_verdict(history("plain"), corrupt=0)]) == []


def test_the_line_is_in_the_run_s_report() -> None:
    verdict, _ = sample_run()
    text = printed(run_report(replace(verdict, arms=(pair(),), comparisons=())), 200)
    assert "rooms: 240, 72 failed" in text
