"""``POST /abort_request``: whoever reads the generation gets an end, whoever asks gets a 200."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from engine import clock
from engine.config import EngineConfig, ModelConfig
from engine.engine import Engine
from tests.engine.api.conversation import CHAT, body, events
from tests.engine.api.fakes import FakeEngine, client

if TYPE_CHECKING:
    import httpx

ABORT = "/abort_request"


def ask(content: bytes, engine: FakeEngine | None = None) -> httpx.Response:
    async def go() -> httpx.Response:
        async with client(engine or FakeEngine()) as http:
            return await http.post(ABORT, content=content)

    return clock.run(go())


@pytest.mark.parametrize(
    ("content", "aborted"),
    [
        (b'{"rid": "chatcmpl-12"}', [12]),
        (b'{"rid": 12}', [12]),
        (b'{"rid": "12"}', [12]),
        (b'{"abort_all": true}', ["all"]),
        (b'{"rid": "chatcmpl-12", "abort_all": true}', ["all"]),
        (b'{"rid": "somebody-else"}', []),
        (b'{"rid": "chatcmpl-%s"}' % (b"9" * 5000), []),
        (b'{"rid": "chatcmpl-\\u0663"}', []),
        (b'{"rid": -1}', []),
        (b'{"rid": null}', []),
        (b"{}", []),
    ],
)
def test_what_is_asked_for_is_aborted_and_the_answer_is_always_200(
    content: bytes, aborted: list[Any]
) -> None:
    engine = FakeEngine()
    response = ask(content, engine)
    assert (response.status_code, response.content) == (200, b"")
    assert engine.aborted == aborted


@pytest.mark.parametrize(
    ("content", "param"),
    [
        (b"", None),
        (b"[]", None),
        (b'{"rid": [1]}', "rid"),
        (b'{"rid": true}', "rid"),
        (b'{"abort_all": "yes"}', "abort_all"),
        (b'{"request": 3}', "request"),
    ],
)
def test_a_bad_body_is_refused_and_aborts_nothing(content: bytes, param: str | None) -> None:
    engine = FakeEngine()
    response = ask(content, engine)
    assert (response.status_code, response.json()["error"]["param"]) == (400, param)
    assert engine.aborted == []


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("output", [0, 5], ids=["before a token", "in mid-reply"])
@pytest.mark.parametrize("asked", [{"rid": "chatcmpl-1"}, {"abort_all": True}])
def test_the_reader_of_an_aborted_generation_gets_what_was_said_and_an_end(
    stream: bool, output: int, asked: dict[str, Any]
) -> None:
    engine = Engine(EngineConfig(pool_pages=48, model=ModelConfig(index_topk=16)))

    async def go() -> httpx.Response:
        async with client(engine) as http:
            fields = body(stream=stream, return_token_ids=True, max_tokens=300)
            reader = asyncio.ensure_future(http.post(CHAT, json=fields))
            while not engine.scheduler.running or len(engine.scheduler.running[0].output) < output:
                await clock.sleep(0.001)
            assert (await http.post(ABORT, json=asked)).status_code == 200
            response = await reader
            await clock.sleep(1)
            return response

    response = clock.run(go())
    assert response.status_code == 200
    last = events(response.text)[-1] if stream else response.json()
    choice = last["choices"][0]
    assert choice["finish_reason"] == "abort"
    assert len(choice["token_ids"]) >= output
    assert engine.scheduler.idle
    assert engine.scheduler.check() == []


def test_an_abort_of_a_reply_that_has_ended_changes_nothing() -> None:
    engine = Engine(EngineConfig(pool_pages=48, model=ModelConfig(index_topk=16)))

    async def go() -> list[Any]:
        async with client(engine) as http:
            reply = (await http.post(CHAT, json=body(max_tokens=2))).json()
            after = await http.post(ABORT, json={"rid": reply["id"]})
            return [reply["choices"][0]["finish_reason"], after.status_code]

    assert clock.run(go()) == ["length", 200]
    assert "aborts" not in engine.events.counters
