"""A session is a track, a turn a slice, and what a turn waited for lies in it."""

from __future__ import annotations

from dataclasses import replace

from lab.records import Finding
from tests.lab.disaggregated import room
from tests.lab.timeline.arms import Drawing, answer, arm, told
from tests.lab.timeline.check import problems


def test_a_turn_is_queued_then_prefilled_then_decoded() -> None:
    events = (told(10, "arrive", request=7), told(25, "admit", request=7, cached=0, pages=2))
    drawn = Drawing(arm(*events, replies=[answer(3, 1, 7, 10, 40, 90)]))
    assert drawn.shown("sessions", "session 3") == [
        ("turn 1", 10, 90),
        ("queued", 10, 25),
        ("prefill", 25, 40),
        ("decode", 40, 90),
    ]
    assert drawn.on("sessions", "session 3")[0]["args"]["request_id"] == "chatcmpl-7"


def test_the_clients_times_count_from_the_arm_s_start() -> None:
    planned = told(500, "session_planned", session=0, group=0, words="")
    drawn = Drawing(arm(planned, replies=[answer(0, 0, 1, 10, 40, 90)]))
    assert drawn.shown("sessions", "session 0")[0] == ("turn 0", 510, 590)


def test_a_turn_that_never_ended_lasts_as_long_as_the_arm() -> None:
    drawn = Drawing(arm(replies=[answer(0, 0, 0, 10)]))
    assert drawn.shown("sessions", "session 0")[0] == ("turn 0 timeout", 10, 90_000)


def test_tries_that_failed_lie_in_the_turn() -> None:
    failed = {"status": "transport_error", "error": "", "sent_ns": 10_000, "done_ns": 20_000}
    event = told(20, "client_retry", session=0, turn=0, tries=1, **failed)
    last = replace(answer(0, 0, 9, 30, 40, 50), tries=2, first_sent_s=10e-6)
    drawn = Drawing(arm(event, replies=[last]))
    assert drawn.shown("sessions", "session 0")[:3] == [
        ("turn 0", 10, 50),
        ("try 1 transport_error", 10, 20),
        ("prefill", 30, 40),
    ]


def test_a_room_s_states_are_what_its_turn_waits_for() -> None:
    made = arm(replies=[answer(0, 0, 1004, 0, 505_000, 900_000)], pd=True)
    drawn = Drawing(replace(made, rooms=[room(4)], virtual_s=1.0))
    assert drawn.shown("sessions", "session 0")[1:] == [
        ("Bootstrapping", 0, 5_000),
        ("WaitingForInput", 5_000, 505_000),
        ("decode", 505_000, 900_000),
    ]


def test_what_a_detector_found_stands_at_the_reply_s_end() -> None:
    found = Finding(0, 0, "wrong_value", "fail", "V2 instead of V1")
    passed = replace(found, detector="loop", outcome="pass")
    drawn = Drawing(arm(replies=[answer(0, 0, 1, 10, 40, 90)]), [found, passed])
    [instant] = drawn.on("sessions", "session 0", "i")
    assert (instant["name"], instant["ts"]) == ("wrong_value", 90)
    assert instant["args"]["detail"] == "V2 instead of V1"


def test_requests_of_nobody_known_are_drawn_apart_and_once() -> None:
    events = [
        told(at, kind, request=request, side=side, **more)
        for side in ("prefill", "decode")
        for at, kind, request, more in (
            (0, "arrive", 1, {"prompt": 9}),
            (5, "arrive", 2, {"prompt": 9}),
            (20, "end", 1, {"reason": "abort"}),
        )
    ]
    drawn = Drawing(arm(*events, pd=True))
    assert drawn.shown("requests of no known session", "requests") == [("request 1", 0, 20)]
    assert drawn.shown("requests of no known session", "requests (2)") == [("request 2", 5, 90_000)]
    assert problems(drawn.text) == []


def test_one_session_is_drawn_with_what_went_on_meanwhile() -> None:
    replies = [answer(0, 0, 1, 10, 20, 30), answer(1, 0, 2, 40, 50, 60)]
    events = (told(15, "evict", pages=1), told(45, "evict", pages=2))
    drawn = Drawing(arm(*events, replies=replies), session=1)
    assert drawn.shown("sessions", "session 1") and not drawn.shown("sessions", "session 0")
    assert drawn.shown("engine", "cache", "i") == [("evict 2 pages", 45)]
