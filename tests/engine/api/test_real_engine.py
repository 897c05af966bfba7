"""The bundled engine behind the API: the model's own replies, over uvicorn and in process."""

from __future__ import annotations

import asyncio
import json
from random import Random
from typing import Any

import openai
import pytest
import torch

from engine import clock
from engine.api import create_app
from engine.config import EngineConfig, ModelConfig
from engine.engine import Engine
from engine.scribe import manual
from engine.text.template import reply_text
from engine.text.tokenizer import EOS, decode, encode
from tests.engine.api.conversation import CHAT, body, events
from tests.engine.api.fakes import client
from tests.engine.api.served import served

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": function.name,
            "parameters": {
                "type": "object",
                "properties": {name: {"type": "string"} for name in function.parameters},
                "required": list(function.parameters),
                "additionalProperties": False,
            },
        },
    }
    for function in manual.FUNCTIONS
]


def _nonce(rng: Random, length: int = 12) -> str:
    return "".join(rng.choices(manual.ALPHABET, k=length))


RNG = Random(7)
ENTRIES = [
    (_nonce(RNG), RNG.choice(manual.FUNCTIONS), (_nonce(RNG, 9), _nonce(RNG, 11))) for _ in range(6)
]
SYSTEM = (
    "You are a clerk.\n"
    + "".join(manual.entry(key, function.name, values) for key, function, values in ENTRIES)
    + manual.RULES_TEXT
)
STEPS = [ENTRIES[4], ENTRIES[1]]
EXPECTED = [manual.reply(key, function.name, values) for key, function, values in STEPS]


def _config() -> EngineConfig:
    return EngineConfig(
        pool_pages=48, chunked_prefill=512, model=ModelConfig(index_topk=16), max_running=8
    )


def _opening() -> list[dict[str, Any]]:
    return [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": manual.user_turn(STEPS[0][0])},
    ]


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


async def _app() -> Any:
    return create_app(Engine(_config()))


@pytest.mark.parametrize("stream", [False, True])
def test_the_openai_client_holds_two_turns_of_tools(stream: bool) -> None:
    messages: list[Any] = _opening()
    cached = []
    with served(_app) as url, openai.OpenAI(base_url=url + "/v1", api_key="none") as http:
        for turn, (_, function, values) in enumerate(STEPS):
            message, finish, usage = (_streamed if stream else _whole)(http, messages)
            (call,) = message["tool_calls"]
            assert finish == "tool_calls"
            assert reply_text(message) == EXPECTED[turn]
            assert call["function"]["name"] == function.name
            given = json.loads(call["function"]["arguments"])
            assert given == dict(zip(function.parameters, values, strict=True))
            assert usage.completion_tokens == len(encode(EXPECTED[turn])) + 1
            cached.append(usage.prompt_tokens_details.cached_tokens)
            answer = manual.tool_result("R" * 8, STEPS[1][0])
            messages += [message, {"role": "tool", "tool_call_id": call["id"], "content": answer}]
    assert cached[0] == 0
    assert cached[1] > 0  # the second turn found the first one's pages
    assert cached[1] % 256 == 0


def test_the_whole_answer_and_the_stream_are_one_in_process() -> None:
    async def go() -> list[Any]:
        async with client(Engine(_config())) as http:
            fields = {"messages": _opening(), "tools": TOOLS, "return_token_ids": True}
            whole, stream = await asyncio.gather(
                http.post(CHAT, json=body(**fields)),
                http.post(CHAT, json=body(stream=True, **fields)),
            )
            return [whole.json()["choices"][0], events(stream.text)[-1]["choices"][0]]

    whole, last = clock.run(go())
    assert decode(whole["token_ids"]) == EXPECTED[0] + decode([EOS])
    assert last["token_ids"] == whole["token_ids"]


def test_a_stop_text_ends_the_generation_early() -> None:
    async def go() -> Any:
        async with client(Engine(_config())) as http:
            answer = await http.post(CHAT, json=body(messages=_opening(), stop=" for "))
            return answer.json()

    answer = clock.run(go())
    choice = answer["choices"][0]
    assert choice["finish_reason"] == "stop"
    assert choice["message"]["reasoning_content"] == f"Call {STEPS[0][1].name}"
    said = f"<think>Call {STEPS[0][1].name} for "
    assert answer["usage"]["completion_tokens"] == len(encode(said))


@pytest.mark.parametrize(
    "fields", [{"messages": [{"role": "user", "content": "x" * 1024}]}, {"max_tokens": 1024}]
)
def test_a_request_beyond_the_pool_is_refused_as_the_clients_error(fields: Any) -> None:
    async def go() -> Any:
        config = EngineConfig(pool_pages=4)
        async with client(Engine(config)) as http:
            return await http.post(CHAT, json=body(**fields))

    response = clock.run(go())
    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"
    assert "the pool has 4" in response.json()["error"]["message"]


@pytest.mark.parametrize("stream", [False, True])
def test_leaving_gives_the_pages_back(stream: bool) -> None:
    engine = Engine(_config())

    async def go() -> tuple[Any, Any]:
        async with client(engine) as http:
            asked = http.post(CHAT, json=body(messages=_opening(), stream=stream))
            task = asyncio.ensure_future(asked)
            while not engine.scheduler.running or not engine.scheduler.running[0].output:
                await clock.sleep(0.001)
            held = engine.info()
            task.cancel()
            await clock.sleep(1)
            return held, engine.info()

    held, left = clock.run(go())
    assert (held["running"], left["running"]) == (1, 0)
    assert left["counters"]["aborts"] == 1
    assert held["free_pages"] < left["free_pages"]
    assert left["free_pages"] + left["cached_pages"] == 48


def _whole(http: openai.OpenAI, messages: list[Any]) -> tuple[dict[str, Any], Any, Any]:
    answer = http.chat.completions.create(model="kvlab", messages=messages, tools=TOOLS)
    choice = answer.choices[0]
    return choice.message.model_dump(exclude_none=True), choice.finish_reason, answer.usage


def _streamed(http: openai.OpenAI, messages: list[Any]) -> tuple[dict[str, Any], Any, Any]:
    stream = http.chat.completions.create(
        model="kvlab",
        messages=messages,
        tools=TOOLS,
        stream=True,
        stream_options={"include_usage": True},
    )
    message: dict[str, Any] = {"role": "assistant", "reasoning_content": "", "tool_calls": []}
    for chunk in stream:
        usage = chunk.usage
        for choice in chunk.choices:
            delta = choice.delta.model_dump(exclude_none=True)
            message["reasoning_content"] += delta.get("reasoning_content", "")
            message["tool_calls"] += delta.get("tool_calls", [])
            finish = choice.finish_reason
    return message, finish, usage
