"""A client that leaves: its generation is aborted at once, streamed or not."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from engine import clock
from engine.api import create_app
from engine.api.presence import ClientGone, unless_gone
from engine.text.tokenizer import encode
from tests.engine.api.conversation import CHAT, body
from tests.engine.api.fakes import FakeEngine, client

if TYPE_CHECKING:
    from collections.abc import MutableMapping


def slow() -> FakeEngine:
    return FakeEngine([encode("never ends")], {"pace_s": 1.0, "hangs": True})


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("after_s", [0.5, 3.5, 300.0])
def test_cancelling_the_client_aborts_the_generation(stream: bool, after_s: float) -> None:
    engine = slow()

    async def go() -> float:
        async with client(engine) as http:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(after_s):
                    await http.post(CHAT, json=body(stream=stream), timeout=None)
        return clock.now()

    assert clock.run(go()) == after_s
    assert engine.handles[0].aborts == 1


@pytest.mark.parametrize("stream", [False, True])
def test_a_disconnect_message_aborts_the_generation(stream: bool) -> None:
    engine, sent = slow(), []
    requests = iter([{"type": "http.request", "body": json.dumps(body(stream=stream)).encode()}])

    async def receive() -> dict[str, Any]:
        for message in requests:
            return message
        await clock.sleep(2.5)
        return {"type": "http.disconnect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def go() -> float:
        scope = {"type": "http", "method": "POST", "path": CHAT, "headers": [], "query_string": b""}
        await create_app(engine)(scope, receive, send)
        return clock.now()

    assert clock.run(go()) == 2.5
    assert engine.handles[0].aborts == 1
    assert (sent[0]["status"], len(sent)) == ((200, 3) if stream else (499, 2))


def test_a_finished_generation_is_not_aborted() -> None:
    engine = FakeEngine(["done"])

    async def go() -> int:
        async with client(engine) as http:
            await http.post(CHAT, json=body(stream=True))
            await clock.sleep(10)
            return len(asyncio.all_tasks())

    assert clock.run(go()) == 1  # nothing is left waiting either
    assert engine.handles[0].aborts == 0


def test_a_bystander_goes_on_when_a_neighbour_leaves() -> None:
    engine = FakeEngine(["a" * 9, "b" * 9], {"pace_s": 1.0})

    async def go() -> str:
        async with client(engine) as http, asyncio.TaskGroup() as group:
            leaver = group.create_task(http.post(CHAT, json=body()))
            await clock.sleep(0)
            stayer = group.create_task(http.post(CHAT, json=body()))
            await clock.sleep(4.5)
            leaver.cancel()
        return str(stayer.result().json()["choices"][0]["message"]["content"])

    assert clock.run(go()) == "b" * 9
    assert [handle.aborts for handle in engine.handles] == [1, 0]


def test_work_is_cancelled_when_the_client_goes_and_errors_pass_through() -> None:
    async def gone() -> dict[str, Any]:
        await clock.sleep(1)
        return {"type": "http.disconnect"}

    async def work(seconds: float) -> str:
        await clock.sleep(seconds)
        raise LookupError("own")

    async def go() -> None:
        with pytest.raises(LookupError):
            await unless_gone(gone, work(0.5))
        with pytest.raises(ClientGone):
            await unless_gone(gone, work(2))

    clock.run(go())
