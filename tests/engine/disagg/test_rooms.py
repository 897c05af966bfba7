"""Rooms: legal moves only, and an end is an end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.disagg.rooms import LEGAL, KVPoll, Room
from engine.errors import IllegalMove
from engine.events import EventLog
from engine.request import Request

STATES = st.sampled_from(list(KVPoll))
MOVES = st.lists(st.one_of(STATES, st.just("fail")), max_size=12)
ENDS = {KVPoll.SUCCESS, KVPoll.FAILED}


def room() -> tuple[Room, EventLog]:
    opened = Room(3, Request(3, [1], 1))
    opened.open(1.0)
    return opened, EventLog(lambda: 0)


def play(moves: list[KVPoll | str]) -> tuple[Room, EventLog, list[KVPoll]]:
    """Try every move, the n-th at time n + 2; the states that were entered, in order."""
    mine, events = room()
    entered = [mine.state]
    for n, to in enumerate(moves):
        before = mine.state
        if isinstance(to, str):
            assert mine.fail(f"reason {n}", n + 2.0, events) == (before not in ENDS)
        elif to in LEGAL[before]:
            mine.move(to, n + 2.0, events)
        else:
            with pytest.raises(IllegalMove, match=f"room 3: {before.title} -> {to.title}"):
                mine.move(to, n + 2.0, events)
            assert mine.state is before
        if mine.state is not before:
            entered.append(mine.state)
    return mine, events, entered


@given(moves=MOVES)
def test_a_room_moves_forward_until_it_ends(moves: list[KVPoll | str]) -> None:
    mine, events, entered = play(moves)
    alive = [state for state in entered if state is not KVPoll.FAILED]
    assert alive == sorted(set(alive))
    assert all(state not in ENDS for state in entered[:-1])
    assert mine.ended == (entered[-1] in ENDS)
    assert [event.fields["to"] for event in events.events] == [s.title for s in entered[1:]]


@given(moves=MOVES)
def test_every_state_is_stamped_when_it_is_entered(moves: list[KVPoll | str]) -> None:
    mine, _, entered = play(moves)
    assert list(mine.entered) == entered
    times = list(mine.entered.values())
    assert times == sorted(times)
    assert mine.since == times[-1]


@given(moves=MOVES)
def test_the_first_failure_says_why_and_later_ones_count_for_nothing(
    moves: list[KVPoll | str],
) -> None:
    mine, events, entered = play(moves)
    why, told = mine.why, len(events.events)
    if mine.ended:
        assert not mine.fail("late", 99.0, events)
        assert (mine.why, len(events.events), mine.state) == (why, told, entered[-1])
    if mine.state is KVPoll.SUCCESS:
        assert why == ""


def test_a_poll_of_ranks_is_the_least_of_their_states() -> None:
    assert min(KVPoll.SUCCESS, KVPoll.TRANSFERRING, KVPoll.FAILED) is KVPoll.FAILED
    assert [state.value for state in KVPoll] == [0, 1, 2, 3, 4]


def test_states_are_named_as_sglang_logs_them() -> None:
    assert [state.title for state in KVPoll] == [
        "Failed",
        "Bootstrapping",
        "WaitingForInput",
        "Transferring",
        "Success",
    ]
