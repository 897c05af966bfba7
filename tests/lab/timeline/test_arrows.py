"""An arrow goes from whoever wrote a bad row to the step that read it, where both are known."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lab.timeline.arms import Drawing, Told, arm, span, step, told
from tests.lab.timeline.check import problems

PREFILL = span("compute", "prefill", 0, 8, step=3, rows=3, tokens=5, requests="1 2 3")
JOB = {"chunk": 0, "bytes": 5, "state": "DONE", "side": "prefill"}


def broken(at_us: int, **fields: Any) -> Told:
    """A bad read, seen at the start of a step."""
    return told(at_us, "violation", name="read_foreign_row", n=1, **fields)


def ends(drawn: Drawing) -> list[tuple[str, float]]:
    """Phase and time of the ends of all arrows."""
    return [(it["ph"], it["ts"]) for it in drawn.trace.events if it["ph"] in "sf"]


@pytest.mark.parametrize(
    ("writer", "fields", "at"),
    [
        (step(1, 0, 10), {"writer_kind": "padding", "writer_step": 1}, 5),
        (PREFILL, {"writer_kind": "prefill", "writer_step": 1}, 4),
        (span("backup", "backup", 4, 8, pages=2), {"writer": "backup 1"}, 6),
        (span("load", "load", 4, 8, pages=2), {"writer_kind": "load", "writer_at_us": 4}, 6),
    ],
)
def test_from_a_step_or_a_copy(writer: Told, fields: dict[str, Any], at: float) -> None:
    drawn = Drawing(arm(writer, step(9, 10, 20), broken(10, **fields)))
    assert ends(drawn) == [("s", at), ("f", 15)]
    assert problems(drawn.text) == []


def test_from_the_last_transfer_of_a_room_on_the_other_side() -> None:
    jobs = [span("wire 0:3", "transfer", start, start + 4, room=3, **JOB) for start in (0, 4, 30)]
    read = broken(10, writer_room=3, writer_kind="transfer", side="decode")
    drawn = Drawing(arm(*jobs, step(2, 10, 20, side="decode"), read, pd=True))
    assert ends(drawn) == [("s", 6), ("f", 15)]
    assert drawn.arrows == 1


@pytest.mark.parametrize("fields", [{}, {"writer_kind": "none"}, {"writer_room": 9}])
def test_none_where_no_writer_is_known(fields: dict[str, Any]) -> None:
    drawn = Drawing(arm(step(1, 0, 10), step(2, 10, 20), broken(10, **fields)))
    assert (ends(drawn), drawn.arrows) == ([], 0)


def test_none_where_no_step_was_going_on() -> None:
    late = broken(25, writer_kind="decode", writer_step=1)
    drawn = Drawing(arm(step(1, 0, 10), step(2, 40, 50), late))
    assert drawn.arrows == 0


def test_none_from_one_of_two_loads_that_may_both_be_meant() -> None:
    loads = [span("load", "load", 4, end, pages=2) for end in (7, 8)]
    read = broken(10, writer_kind="load", writer_at_us=4)
    assert Drawing(arm(*loads, step(1, 10, 20), read)).arrows == 0


def test_to_the_step_that_a_violation_names() -> None:
    late = broken(25, writer_kind="decode", writer_step=1, step=2)
    drawn = Drawing(arm(step(1, 0, 10), step(2, 10, 20), late))
    assert ends(drawn) == [("s", 5), ("f", 15)]


def test_to_a_step_that_begins_late_from_the_moment_at_which_its_work_is_done() -> None:
    kept_back = told(
        *(10, "span"),
        track="compute",
        name="decode",
        start_us=14,
        end_us=20,
        step=2,
        rows=1,
        size=1,
    )
    read = broken(10, writer_kind="decode", writer_step=1)
    assert Drawing(arm(step(1, 0, 10), kept_back, read)).arrows == 1
