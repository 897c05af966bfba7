"""A disaggregated pair behind the API: aborts at every stage, and hand-overs that fail."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from engine import clock
from engine.config import EngineConfig, ModelConfig
from engine.disagg.pair import Pair
from tests.engine.api.conversation import CHAT, body, events
from tests.engine.api.fakes import client

if TYPE_CHECKING:
    import httpx

LONG = [{"role": "user", "content": "x" * 1500}]
SLOW = {"wire_gb_per_s": 0.001, "workers": 1, "queue_size": 1}
# With that wire LONG is computed after 0.1 s, handed over after 25.8 s and answered after 29 s.
STAGES = {
    "told": 0.0,
    "computed": 0.01,
    "first chunk on the wire": 0.5,
    "last chunk on the wire": 20.0,
    "decoded": 27.0,
}


def pair(**changed: Any) -> Pair:
    sizes = {"pool_pages": 48, "chunked_prefill": 512, "max_running": 8}
    return Pair(EngineConfig(pd=True, model=ModelConfig(index_topk=16), **(sizes | changed)))


def at_rest(engine: Pair) -> bool:
    return all(e.scheduler.idle and e.scheduler.check() == [] for e in engine.engines)


async def asked(http: httpx.AsyncClient, stream: bool) -> httpx.Response:
    fields = body(messages=LONG, stream=stream, return_token_ids=True, max_tokens=300)
    return await http.post(CHAT, json=fields)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("after_s", STAGES.values(), ids=STAGES)
def test_an_abort_ends_the_reply_wherever_its_room_stands(stream: bool, after_s: float) -> None:
    engine = pair(**SLOW)

    async def go() -> httpx.Response:
        async with client(engine) as http:
            reader = asyncio.ensure_future(asked(http, stream))
            await clock.sleep(after_s)
            aborted = await http.post("/abort_request", json={"rid": "chatcmpl-1"})
            assert aborted.status_code == 200
            response = await reader
            await clock.sleep(60)
            return response

    response = clock.run(go())
    assert response.status_code == 200
    last = events(response.text)[-1] if stream else response.json()
    assert last["choices"][0]["finish_reason"] == "abort"
    assert engine.events.counters["aborts"] == 1
    assert at_rest(engine)


@pytest.mark.parametrize("stream", [False, True])
def test_a_hand_over_that_times_out_is_an_error_that_names_its_room(stream: bool) -> None:
    engine = pair(waiting_timeout=0.5, **SLOW)

    async def go() -> httpx.Response:
        async with client(engine) as http:
            response = await asked(http, stream)
            await clock.sleep(60)
            return response

    response = clock.run(go())
    said = response.text.removeprefix("data: ").removesuffix("\n\n") if stream else response.text
    error = json.loads(said)["error"]
    assert response.status_code == (200 if stream else 500)
    assert (error["type"], error["code"]) == ("server_error", "room_failed")
    assert error["message"].startswith("room 1 failed after 0.5")
    assert engine.events.counters["rooms_failed"] == 1
    assert at_rest(engine)
