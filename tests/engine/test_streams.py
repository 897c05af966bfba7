"""Bytes move when the timeline passes the end of their stage, in the order of time."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.streams import Copy, Direction, Stage, Streams

RATE = 100.0  # bytes a second


class Link:
    """Streams over a clock that the test moves, and what was moved, in order."""

    def __init__(self) -> None:
        self.now = 0.0
        self.moved: list[str] = []
        self.streams = Streams(RATE, lambda: self.now)

    def copy(
        self,
        name: str,
        *nbytes: float,
        stream: str = "load",
        at: float | None = None,
        direction: Direction | None = None,
    ) -> Copy:
        """A copy whose stages are called a0, a1, ...; loads go up, all others down."""
        direction = direction or ("h2d" if stream == "load" else "d2h")
        stages = [Stage(n, partial(self.moved.append, f"{name}{i}")) for i, n in enumerate(nbytes)]
        return self.streams.issue(stream, stages, at, direction)


@pytest.fixture
def link() -> Link:
    return Link()


def test_nothing_moves_before_its_stage_ends(link: Link) -> None:
    copy = link.copy("a", 100)
    link.streams.land(0.999)
    assert (link.moved, copy.done) == ([], False)
    link.streams.land(1.0)
    assert (link.moved, copy.done) == (["a0"], True)


def test_a_copy_is_half_done_between_its_stages(link: Link) -> None:
    copy = link.copy("a", 100, 50, 50)
    assert copy.ends == [1.0, 1.5, 2.0]
    link.streams.land(1.6)
    assert (link.moved, copy.landed, copy.done) == (["a0", "a1"], 2, False)


def test_bytes_move_until_the_last_one_is_through_whoever_moves_them(link: Link) -> None:
    assert not link.streams.moving
    link.copy("a", 100)
    link.streams.carry("d2h", 200)
    seen = []
    for link.now in (0.0, 1.5, 2.0):
        seen.append(link.streams.moving)
    assert seen == [True, True, False]


def test_what_is_due_and_was_not_fetched_does_not_move(link: Link) -> None:
    link.copy("a", 100)
    link.now = 1.0
    assert link.streams.wait_s() == 0.0
    assert not link.streams.moving


def test_no_stage_moves_twice(link: Link) -> None:
    link.copy("a", 100, 100)
    for until in (1.0, 1.0, 3.0, 3.0):
        link.streams.land(until)
    assert link.moved == ["a0", "a1"]


def test_a_stream_copies_one_thing_at_a_time(link: Link) -> None:
    link.copy("a", 100)
    second = link.copy("b", 100)
    assert (second.start_s, second.finish_s) == (1.0, 2.0)


def test_the_two_directions_of_a_link_do_not_wait_for_each_other(link: Link) -> None:
    link.copy("a", 100, stream="load")
    assert link.copy("b", 100, stream="backup").start_s == 0.0


@pytest.mark.parametrize("direction", ["h2d", "d2h"])
def test_streams_of_one_direction_share_its_rate(link: Link, direction: Direction) -> None:
    link.copy("a", 100, stream="backup", direction=direction)
    second = link.copy("b", 50, 50, stream="staging", direction=direction)
    assert (second.start_s, second.ends) == (1.0, [1.5, 2.0])


def test_a_copy_is_one_to_the_host_unless_it_says_otherwise(link: Link) -> None:
    link.streams.issue("staging", [Stage(100, lambda: None)])
    assert link.copy("b", 100, stream="backup").start_s == 1.0
    assert link.copy("c", 100, stream="load").start_s == 0.0


def test_bytes_that_a_step_moves_by_itself_take_their_turn_on_the_link(link: Link) -> None:
    link.copy("a", 100, stream="load")
    assert link.streams.carry("h2d", 50) == 1.5
    assert link.streams.carry("d2h", 50, at=3.0) == 3.5
    assert link.copy("b", 100, stream="load").start_s == 1.5
    assert link.copy("c", 100, stream="backup").start_s == 3.5


def test_nothing_carried_waits_for_nobody_and_keeps_nobody(link: Link) -> None:
    link.copy("a", 100, stream="load")
    assert link.streams.carry("h2d", 0.0, at=0.25) == 0.25
    assert link.streams.carry("d2h", 0.0, at=5.0) == 5.0
    assert link.copy("b", 100, stream="backup").start_s == 0.0


def test_what_a_step_moves_by_itself_is_not_waited_for_when_idle(link: Link) -> None:
    link.streams.carry("d2h", 100)
    assert link.streams.wait_s() is None


def test_a_stream_that_rested_starts_at_once(link: Link) -> None:
    link.copy("a", 100)
    link.now = 5.0
    assert link.copy("b", 100).start_s == 5.0


def test_a_copy_may_be_issued_for_a_later_moment(link: Link) -> None:
    assert link.copy("a", 100, at=2.0).finish_s == 3.0


def test_stages_of_all_streams_move_in_the_order_of_time(link: Link) -> None:
    link.copy("a", 30, 30, stream="load")
    link.copy("b", 20, 30, stream="backup")
    link.streams.land(1.0)
    assert link.moved == ["b0", "a0", "b1", "a1"]


def test_what_arrives_at_one_moment_moves_in_the_order_of_its_issue(link: Link) -> None:
    for name, stream in (("a", "load"), ("b", "backup")):
        link.copy(name, 100, stream=stream)
    link.copy("c", stream="staging")
    link.copy("d", 0, stream="staging")
    link.streams.land(1.0)
    assert link.moved == ["a0", "b0", "d0"]


def test_compute_that_ran_ahead_of_the_clock_is_not_undone(link: Link) -> None:
    link.streams.land(2.0)
    link.copy("a", 150)  # ends before what compute has reached
    link.streams.land(0.0)
    assert link.moved == ["a0"]


def test_a_copy_of_nothing_is_done(link: Link) -> None:
    copy = link.copy("a")
    assert (copy.done, copy.finish_s, link.streams.wait_s()) == (True, 0.0, None)


def test_the_wait_is_for_the_next_stage(link: Link) -> None:
    link.copy("a", 100, 100)
    link.now = 0.25
    assert link.streams.wait_s() == 0.75
    link.streams.land(1.0)
    assert link.streams.wait_s() == 1.75


def test_what_is_overdue_is_not_waited_for(link: Link) -> None:
    link.copy("a", 100)
    link.now = 7.0
    assert link.streams.wait_s() == 0.0


def test_with_nothing_on_its_way_there_is_no_wait(link: Link) -> None:
    link.copy("a", 100)
    link.streams.land(1.0)
    assert link.streams.wait_s() is None


COPIES = st.tuples(
    st.sampled_from(["load", "backup"]),
    st.lists(st.integers(0, 200), max_size=4),
    st.integers(0, 200),  # hundredths of a second until the next one
)


@given(st.lists(COPIES, max_size=12))
def test_any_schedule_moves_each_stage_once_and_never_early(
    schedule: list[tuple[str, list[int], int]],
) -> None:
    link = Link()
    moved: list[tuple[int, int]] = []  # (copy, stage)
    early: list[tuple[int, int]] = []
    copies: list[Copy] = []

    def move(which: int, stage: int) -> None:
        moved.append((which, stage))
        if copies[which].ends[stage] > link.now:
            early.append((which, stage))

    for which, (stream, nbytes, pause) in enumerate(schedule):
        stages = [Stage(n, partial(move, which, i)) for i, n in enumerate(nbytes)]
        copies.append(link.streams.issue(stream, stages))
        link.now += pause / 100
        link.streams.land(link.now)
    link.now += 1e6
    link.streams.land(link.now)
    assert early == []
    assert sorted(moved) == [(c, i) for c, copy in enumerate(copies) for i in range(len(copy.ends))]
    assert all(copy.done for copy in copies)
