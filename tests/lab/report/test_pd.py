"""A disaggregated arm's line in every report of a run."""

from __future__ import annotations

from dataclasses import replace

from lab.records import ArmVerdict
from lab.report.pd import pd_lines
from lab.report.table import run_report
from tests.lab.disaggregated import LATE
from tests.lab.report.test_table import printed
from tests.lab.samples import arm_verdict, history, sample_run

COUNTED = {"rooms": 240, "rooms_failed": 72, "waiting_timeouts": 69, "room_aborts": 3}


def pair(**changed: object) -> ArmVerdict:
    """A verdict on a disaggregated arm."""
    made = arm_verdict(history("pd"), corrupt=0)
    return replace(made, settings={**made.settings, "pd": True}, exposure=COUNTED, **changed)


def test_it_says_how_many_rooms_failed_and_of_what() -> None:
    assert pd_lines([pair()]) == [
        "rooms: 240, 72 failed (waiting timeouts 69, aborts 3); "
        'no late write into an owned page (arm "pd")'
    ]


def test_a_false_alarm_is_what_a_room_failed_of() -> None:
    (line,) = pd_lines([pair(violations={"metadata_false_alarm": 14})])
    assert "72 failed (waiting timeouts 69, aborts 3, false alarms over metadata 14)" in line


def test_it_names_the_first_writers_and_their_victims() -> None:
    told = tuple(f"room {n} into room {n + 1} (request 7), page 3, 8 rows" for n in range(5))
    (line,) = pd_lines([pair(violations={LATE: 31}, late_writes=told)])
    assert "; late writes into 31 owned pages: room 0 into room 1 (request 7)" in line
    assert "room 2 into room 3" in line and "room 3 into" not in line
    assert line.endswith('; and 2 more pairs of rooms (arm "pd")')


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
