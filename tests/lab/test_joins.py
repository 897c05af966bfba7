"""Rooms joined to the turns that they were opened for."""

from __future__ import annotations

from dataclasses import replace

from lab.joins import Turn, joined, numbered, room_of, turns_of
from lab.records import ArmHistory
from lab.report.pd import bystanders
from tests.lab.disaggregated import disaggregated, late_write, retry


def arm() -> ArmHistory:
    """Session 1's first try failed with room 2, its second came by room 3; session 4 heard room
    5's number, the client of session 5 left without one.
    """
    made = disaggregated("pd")
    ids = {1: "chatcmpl-1003", 4: "chatcmpl-1005"}
    made.replies = [replace(it, request_id=ids.get(it.session)) for it in made.replies]
    made.replies[5] = replace(made.replies[5], status="aborted", error="left after 1 s")
    made.events.append(retry(1, 4.0, "HTTP 500: room 2 failed after 4.000 s: why"))
    return made


def test_a_turn_that_was_asked_again_has_a_room_a_try() -> None:
    assert turns_of(arm()) == {2: Turn(1, 0), 3: Turn(1, 0), 5: Turn(4, 0)}


def test_a_reply_that_failed_is_joined_by_its_error_and_a_stranger_s_id_by_nothing() -> None:
    made, numbers = arm().replies[0], numbered(arm())
    failed = replace(made, status="transport_error", error="room 6 failed in Bootstrapping after 1")
    assert room_of(failed, numbers) == 6
    for unknown in ("cmpl-abc", "chatcmpl-7", "chatcmpl-1003x", None):
        assert room_of(replace(made, request_id=unknown, error=None), numbers) is None


def test_late_writes_name_the_turns_of_both_and_whether_the_victim_stood_by() -> None:
    made = arm()
    made.events += [late_write(2, 5, 70), late_write(2, 3, 80), late_write(4, 6, 90)]
    spared, again, unknown = joined(made)
    assert (spared.writer_session, spared.writer_turn) == (1, 0)
    assert (spared.victim_session, spared.victim_turn, spared.bystander) == (4, 0, True)
    assert (again.victim_session, again.bystander) == (1, False)
    assert unknown.writer_session is unknown.victim_session is unknown.bystander is None


def test_a_run_s_line_counts_victims_that_never_failed() -> None:
    made = arm()
    made.events += [late_write(2, 5, 70), late_write(2, 5, 71), late_write(2, 3, 80)]
    assert bystanders(joined(made)) == "; 1 of 2 victims' sessions had no failed try"
    assert bystanders([]) == ""
