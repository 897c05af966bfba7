"""The driver against our own API: healthy engines come out clean, garbled ones never do.

Whatever a damaged model says, the next turn can be asked: its text goes back into the prompt.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import httpx
import pytest

from engine import clock
from engine.api import create_app
from engine.events import EventLog
from lab.detectors import Kind, examine, worst
from lab.driver import InProcess, Load, Recorder, drive
from lab.planned import announce, context_of
from tests.lab.driver.followers import Follower, Garble, flips, runaway
from tests.lab.driver.servers import plans

if TYPE_CHECKING:
    from lab.records import Reply, SessionPlan


def held(
    engine: Follower, planned: list[SessionPlan], load: Load | None = None
) -> tuple[list[Reply], EventLog]:
    """Every reply of the plans, asked of the engine through its API."""
    log = EventLog(clock.now_ns)
    recorder = Recorder(planned, events=log)

    async def main() -> None:
        announce(planned, log)
        transport = InProcess(create_app(engine))
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:
            await drive(http, load or Load(), recorder)

    clock.run(main())
    return recorder.replies(), log


@pytest.mark.parametrize("interval", [1, 2, 3, 5, 1000])
@pytest.mark.parametrize("streamed", [True, False])
def test_a_healthy_engine_is_clean(interval: int, streamed: bool) -> None:
    planned = plans(sessions=3)
    replies, log = held(Follower(interval=interval), planned, Load(stream=streamed))
    context = context_of(log.events)
    assert [found for reply in replies for found in examine(reply, context)] == []
    assert all(reply.raw_text == reply.expected_text for reply in replies)
    assert all(reply.finish_reason == "tool_calls" for reply in replies)


GARBLES: dict[str, Garble] = {
    "now and then": flips(Random(1), 0.01),
    "often": flips(Random(2), 0.2),
    "always": flips(Random(3), 1.0),
    "runaway": runaway,
    "cut": lambda ids: ids[:50],
    "nothing": lambda ids: ids[-1:],
    "thought only": lambda ids: ids[:40] + ids[-1:],
    "twice": lambda ids: ids[:-1] + ids,
    "reversed": lambda ids: ids[::-1],
}


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("name", GARBLES)
def test_a_garbled_reply_is_corrupt_and_the_session_still_goes_on(
    name: str, streamed: bool
) -> None:
    planned = plans(sessions=6)
    replies, log = held(Follower(GARBLES[name]), planned, Load(stream=streamed, max_tokens=300))
    context = context_of(log.events)
    assert [(r.session, r.turn) for r in replies] == [(s, t) for s in range(6) for t in range(2)]
    for reply in replies:
        assert reply.status == "ok", reply.error
        found = worst(examine(reply, context), Kind.CORRUPT)
        cut = reply.finish_reason == "length" and reply.expected_text.startswith(
            reply.raw_text or ""
        )
        assert (found is None) == (reply.raw_text == reply.expected_text or cut)


def test_a_client_that_leaves_aborts_its_generation() -> None:
    engine = Follower()
    replies, _ = held(engine, plans(sessions=4), Load(abort_rate=1.0, abort_within_s=0.5))
    assert [r.status for r in replies] == ["aborted", "not_sent"] * 4
    assert [handle.finish_reason for handle in engine.handles] == ["abort"] * 4
