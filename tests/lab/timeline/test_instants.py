"""What happened at once carries all that was said of it; counters go with the events."""

from __future__ import annotations

from tests.lab.timeline.arms import Drawing, answer, arm, step, told


def test_a_violation_carries_its_fields_and_whose_request_it_is_about() -> None:
    broken = told(20.5, "violation", name="read_after_free", n=2, request=7, page=3)
    drawn = Drawing(arm(broken, replies=[answer(4, 1, 7, 10, 40, 90)]))
    [instant] = drawn.on("engine", "violations", "i")
    assert (instant["name"], instant["ts"]) == ("read_after_free", 20.5)
    assert instant["args"].items() >= {"page": 3, "n": 2, "session": 4, "turn": 1}.items()


def test_an_owner_that_is_a_request_is_known_too() -> None:
    broken = told(20, "violation", name="padded_row_wrote_owned_slot", n=1, owner="request 7")
    drawn = Drawing(arm(broken, replies=[answer(4, 1, 7, 10, 40, 90)]))
    assert drawn.on("engine", "violations", "i")[0]["args"]["session"] == 4


def test_a_late_write_is_of_the_request_that_it_hit() -> None:
    late = told(20, "violation", name="late_write_into_owned_page", n=1, victim="request 7")
    drawn = Drawing(arm(late, replies=[answer(4, 1, 7, 10, 40, 90)]))
    assert drawn.on("engine", "violations", "i")[0]["args"]["session"] == 4


def test_aborts_retractions_evictions_and_rooms_that_failed_are_told_and_plain_ends_are_not() -> (
    None
):
    drawn = Drawing(
        arm(
            told(1, "end", request=1, reason="stop", output=3),
            told(2, "end", request=2, reason="abort", output=3),
            told(3, "retract", request=3, output=1, kv=300),
            told(4, "evict", node=1, pages=5, kept=0),
            told(5, "room", room=8, to="Success", side="decode"),
            told(6, "room", room=9, to="Failed", side="decode"),
            told(7, "no_progress", waiting="room 9 waits"),
            pd=True,
        )
    )
    scheduler = [("abort request 2", 2), ("retract request 3", 3)]
    assert drawn.shown("both sides", "scheduler", "i") == scheduler
    assert drawn.shown("both sides", "cache", "i") == [("evict 5 pages", 4)]
    assert drawn.shown("decode", "rooms", "i") == [("room 9 failed", 6)]
    assert drawn.shown("both sides", "violations", "i") == [("no_progress", 7)]


def test_counters_say_rows_padding_requests_and_free_pages() -> None:
    drawn = Drawing(
        arm(
            told(1, "arrive", request=1, prompt=9),
            told(2, "arrive", request=2, prompt=9),
            told(3, "admit", request=1, cached=0, pages=1),
            told(4, "decode", rows=3, size=4),
            step(1, 4, 9, free=12),
            told(5, "retract", request=1, output=1, kv=9),
            told(6, "end", request=2, reason="abort", output=0),
        )
    )
    counted = [(it["name"], it["ts"], it["args"]) for it in drawn.trace.events if it["ph"] == "C"]
    assert counted == [
        ("decode rows", 4, {"rows": 3, "padding": 1}),
        ("pages", 4, {"free": 12}),
        ("requests", 1, {"open": 1}),
        ("requests", 2, {"open": 2}),
        ("requests", 3, {"open": 2, "admitted": 1}),
        ("requests", 5, {"open": 2, "admitted": 0}),
        ("requests", 6, {"open": 1, "admitted": 0}),
    ]
