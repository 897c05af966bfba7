"""What a decode side knows of a room's pieces: notes count, in whatever order they come."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from engine import clock
from engine.disagg.questions import DrainsFirst
from engine.disagg.reception import Notes, Reception
from engine.disagg.rooms import KVPoll

if TYPE_CHECKING:
    from engine.disagg.wire import Wire


class Arrivals:
    """The notes of a wire."""

    def __init__(self, *notes: str) -> None:
        self.waiting = list(notes)

    def notes(self) -> list[str]:
        arrived, self.waiting = self.waiting, []
        return arrived


def notes(*arrived: str) -> tuple[Notes, Arrivals]:
    wire = Arrivals(*arrived)
    return Notes(_as_wire(wire)), wire


def _as_wire(wire: Arrivals) -> Wire:
    return wire  # type: ignore[return-value]


def of(room: int, chunks: int, rank: int = 0) -> list[str]:
    """Every note of a room."""
    last = chunks - 1
    kv = [f"{room}_kv_{chunk}_{int(chunk == last)}_{rank}" for chunk in range(chunks)]
    return [*kv, f"{room}_state_{rank}", f"{room}_aux_{rank}"]


@given(chunks=st.integers(1, 5), data=st.data())
def test_a_room_is_complete_with_its_last_piece_whatever_the_order(
    chunks: int, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(of(7, chunks)))
    all_notes, wire = notes()
    mine = Reception(all_notes, 7, 9.0)
    for count, note in enumerate(order):
        missing = [left for left in order[count:] if "aux" not in left]
        assert mine.complete == (not missing)
        assert mine.aux == ("7_aux_0" not in order[count:])
        wire.waiting.append(note)
        all_notes.drain()
        mine.drain()
    assert mine.complete
    assert mine.aux


def test_one_room_s_notes_say_nothing_of_another() -> None:
    all_notes, _ = notes(*of(1, 2), *of(2, 1)[:-1])
    one, two, three = (Reception(all_notes, room, 9.0) for room in (1, 2, 3))
    all_notes.drain()
    for each in (one, two, three):
        each.drain()
    assert (one.complete, two.complete, three.complete) == (True, True, False)
    assert (one.aux, two.aux) == (True, False)


def test_what_comes_for_a_room_that_is_closed_is_lost() -> None:
    all_notes, wire = notes(*of(1, 1)[:1])
    mine = Reception(all_notes, 1, 9.0)
    all_notes.drain()
    mine.close()
    wire.waiting = of(1, 1)[1:]
    all_notes.drain()
    mine.drain()
    assert not mine.complete
    mine.close()  # twice is once


def test_whoever_listens_is_told_of_notes_that_are_read_and_of_those_that_are_not() -> None:
    heard: list[str] = []
    lost: list[str] = []
    all_notes = Notes(_as_wire(Arrivals(*of(1, 1), *of(2, 1))), heard.append, lost.append)
    Reception(all_notes, 1, 9.0)
    all_notes.drain()
    assert (heard, lost) == (of(1, 1), of(2, 1))


def test_a_note_that_comes_twice_counts_once() -> None:
    all_notes, _ = notes(*of(1, 2)[:1] * 2, *of(1, 2)[2:])
    mine = Reception(all_notes, 1, 9.0)
    all_notes.drain()
    mine.drain()
    assert not mine.complete


def test_a_deadline_counts_from_the_moment_it_names() -> None:
    async def main() -> list[bool]:
        mine = Reception(notes()[0], 1, 2.0)
        seen = [mine.expired]
        for _ in range(2):
            await asyncio.sleep(1.0)
            seen.append(mine.expired)
        return seen

    assert clock.run(main()) == [False, False, True]


def test_what_has_arrived_counts_before_the_deadline_does() -> None:
    async def main() -> list[KVPoll]:
        all_notes, _ = notes(*of(1, 1))
        late, lost = Reception(all_notes, 1, 1.0), Reception(all_notes, 2, 1.0)
        all_notes.drain()
        early = DrainsFirst().state(lost)
        await asyncio.sleep(5.0)
        return [early, DrainsFirst().state(late), DrainsFirst().state(lost)]

    assert clock.run(main()) == [KVPoll.WAITING_FOR_INPUT, KVPoll.SUCCESS, KVPoll.FAILED]
