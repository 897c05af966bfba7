"""An arrow goes from whoever wrote a bad row to the step that read it, where both are known."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lab.timeline.arms import Drawing, Told, arm, span, step, told
from tests.lab.timeline.check import problems

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
        (step(1, 0, 10), {"writer_kind": "padding", "writer_at_us": 0}, 5),
        (span("load", "load", 4, 8, pages=2), {"writer_kind": "load", "writer_at_us": 1}, 6),
    ],
)
def test_from_a_step_or_a_copy(writer: Told, fields: dict[str, Any], at: float) -> None:
    drawn = Drawing(arm(writer, step(2, 10, 20), broken(10, **fields)))
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
    late = broken(25, writer_kind="decode", writer_at_us=0)
    drawn = Drawing(arm(step(1, 0, 10), step(2, 40, 50), late))
    assert drawn.arrows == 0
