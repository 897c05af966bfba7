"""A message takes its latency, none is lost, and those of one mailbox stay in order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import clock
from engine.disagg.mail import Mailbox, Message, Tag
from engine.errors import Stalled


def abort(room: int) -> Message:
    return Message(Tag.ABORT, room)


def test_a_message_arrives_after_the_latency() -> None:
    async def main() -> float:
        box = Mailbox(0.25)
        box.send(abort(1))
        await box.receive()
        return clock.now()

    assert clock.run(main()) == 0.25


def test_nothing_is_there_before_the_latency_has_passed() -> None:
    async def main() -> tuple[list[Message], list[Message]]:
        box = Mailbox(0.25)
        box.send(abort(1))
        await clock.sleep(0.2)
        early = box.take()
        await clock.sleep(0.1)
        return early, box.take()

    assert clock.run(main()) == ([], [abort(1)])


def test_whoever_waits_and_whoever_takes_never_get_the_same_message() -> None:
    async def main() -> tuple[Message, list[Message]]:
        box = Mailbox(0.1)
        for room in (1, 2, 3):
            box.send(abort(room))
        first = await box.receive()
        return first, box.take() + box.take()

    assert clock.run(main()) == (abort(1), [abort(2), abort(3)])


def test_every_delivery_wakes_the_reader() -> None:
    async def main() -> list[float]:
        box, woken = Mailbox(0.5), list[float]()
        box.wake = lambda: woken.append(clock.now())
        box.send(abort(1))
        await clock.sleep(1.0)
        box.send(abort(2))
        await clock.sleep(1.0)
        return woken

    assert clock.run(main()) == [0.5, 1.5]


def test_a_mailbox_that_nobody_writes_to_is_a_stall_and_not_a_timer() -> None:
    async def main() -> None:
        await Mailbox(0.1).receive()

    with pytest.raises(Stalled, match=r"0\.000000 s"):
        clock.run(main())


@given(st.lists(st.sampled_from([0.0, 0.0, 1e-9, 0.05, 0.3]), max_size=30))
def test_messages_arrive_once_each_in_the_order_of_their_sending(pauses: list[float]) -> None:
    async def main() -> list[int]:
        box, rooms = Mailbox(0.1), list[int]()
        for room, pause in enumerate(pauses):
            box.send(abort(room))
            await clock.sleep(pause)
            rooms += [message.room for message in box.take()]
        while len(rooms) < len(pauses):
            rooms.append((await box.receive()).room)
        return rooms

    assert clock.run(main()) == list(range(len(pauses)))
