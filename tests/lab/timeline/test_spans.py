"""Steps, copies and transfers are slices on tracks of their own."""

from __future__ import annotations

from tests.lab.timeline.arms import Drawing, arm, span, step, told
from tests.lab.timeline.check import names, problems


def test_a_step_shows_its_rows_its_padding_and_its_tokens() -> None:
    prefill = span("compute", "prefill", 0, 10, step=1, rows=2, tokens=900, requests="4 5")
    drawn = Drawing(arm(prefill, step(2, 10, 14), step(3, 14, 17, rows=4)))
    assert drawn.shown("engine", "compute") == [
        ("prefill 900 tokens", 0, 10),
        ("decode 3 + 1 padding", 10, 14),
        ("decode 4", 14, 17),
    ]
    first = drawn.on("engine", "compute")[0]
    assert first["args"] == {"step": 1, "rows": 2, "tokens": 900, "requests": "4 5"}


def test_a_copy_is_where_it_moves_though_it_was_told_earlier() -> None:
    late = told(3, "span", track="backup", name="backup", start_us=20, end_us=30, pages=2)
    drawn = Drawing(arm(late, span("backup", "backup", 5, 9, pages=1)))
    assert drawn.shown("engine", "backup") == [("backup 1 pages", 5, 9), ("backup 2 pages", 20, 30)]


def test_each_queue_of_each_rank_has_a_track_with_its_rooms() -> None:
    job = {"chunk": 1, "bytes": 5, "side": "prefill"}
    drawn = Drawing(
        arm(
            span("wire 0:10", "transfer", 0, 5, room=10, state="DONE", **job),
            span("wire 0:2", "transfer", 1, 5, room=2, state="CANCELLED", **job),
            span("wire 1:2", "transfer", 1, 5, room=2, state="DONE", rank=1, **job),
            pd=True,
            tp=2,
        )
    )
    tracks = [*names(drawn.trace.events, "thread").values()]
    assert tracks == ["wire 0:2", "wire 0:10", "wire 1:2"]
    shown = drawn.shown("prefill rank 0", "wire 0:2")
    assert shown == [("room 2 chunk 1 CANCELLED", 1, 5)]
    assert drawn.shown("prefill rank 1", "wire 1:2") == [("room 2 chunk 1", 1, 5)]


def test_steps_that_overlap_by_a_wall_clock_are_kept_apart() -> None:
    drawn = Drawing(arm(step(1, 0, 10), step(2, 4, 14)))
    assert len(drawn.on("engine", "compute (2)")) == 1
    assert problems(drawn.text) == []


def test_the_prefill_side_is_shown_above_the_decode_side_and_ranks_in_their_order() -> None:
    sides = [("decode", 1), ("decode", 0), ("prefill", 1), ("prefill", 0)]
    steps = [step(1, 0, 9, side=side, **({"rank": rank} if rank else {})) for side, rank in sides]
    drawn = Drawing(arm(*steps, pd=True, tp=2))
    shown = [name for name in names(drawn.trace.events, "process").values() if "rank" in name]
    assert shown == [f"{side} rank {rank}" for side, rank in reversed(sides)]
