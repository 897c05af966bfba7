"""The `openai` client holds a two-turn tool conversation over uvicorn on loopback."""

from __future__ import annotations

import json
import time
from typing import Any

import httpx
import openai
import pytest

from engine.api import create_app
from engine.text.tokenizer import EOS, encode
from tests.engine.api.conversation import CHAT, OPENAI_TOOLS, USER, body
from tests.engine.api.fakes import FakeEngine
from tests.engine.api.served import served
from tests.engine.text.samples import HEALTHY, block, invoke, parameter

SECOND = "<think>Call get_record for L.</think>\n\n" + block(
    invoke("get_record", parameter("table", "PARTS") + parameter("row", "9", "false"))
)


def test_a_two_turn_tool_conversation() -> None:
    engine = FakeEngine([HEALTHY, SECOND])
    with served(lambda: _app(engine)) as url, _openai(url) as client:
        messages: list[Any] = [USER]
        said = []
        for _ in range(2):
            answer = client.chat.completions.create(
                model="kvlab", messages=messages, tools=OPENAI_TOOLS, seed=1, temperature=0
            )
            choice = answer.choices[0]
            assert choice.finish_reason == "tool_calls"
            (call,) = choice.message.tool_calls
            said.append(json.loads(call.function.arguments))
            messages += [
                choice.message,
                {"role": "tool", "tool_call_id": call.id, "content": "{}"},
            ]
        assert client.models.list().data[0].id == "kvlab"
    assert said == [{"table": "ORDERS", "row": "7X"}, {"table": "PARTS", "row": 9}]
    assert _holds(engine.submitted[1][0], [*encode(HEALTHY), EOS])


def test_a_two_turn_tool_conversation_streamed() -> None:
    engine = FakeEngine([HEALTHY, SECOND])
    with served(lambda: _app(engine)) as url, _openai(url) as client:
        messages: list[Any] = [USER]
        for _ in range(2):
            message, usage = _streamed(client, messages)
            answer = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"]}
            messages += [message, answer | {"content": "{}"}]
    assert messages[1]["reasoning_content"] == "Call get_record for K."
    assert json.loads(messages[3]["tool_calls"][0]["function"]["arguments"])["row"] == 9
    assert usage.completion_tokens == len(encode(SECOND)) + 1
    assert _holds(engine.submitted[1][0], [*encode(HEALTHY), EOS])


def test_errors_are_the_clients_own_classes() -> None:
    with served(lambda: _app(FakeEngine())) as url, _openai(url) as client:
        with pytest.raises(openai.NotFoundError, match="does not exist"):
            client.chat.completions.create(model="gpt", messages=[USER])
        with pytest.raises(openai.BadRequestError, match="maximum context length") as caught:
            client.chat.completions.create(model="kvlab", messages=[USER], max_tokens=9000)
    assert caught.value.code == "context_length_exceeded"


@pytest.mark.parametrize("stream", [False, True])
def test_a_closed_connection_aborts_the_generation(stream: bool) -> None:
    engine = FakeEngine([encode("abc")], {"hangs": True})
    with served(lambda: _app(engine)) as url:
        with (
            pytest.raises(httpx.ReadTimeout),
            httpx.stream("POST", url + CHAT, json=body(stream=stream), timeout=0.5) as response,
        ):
            response.read()
        _wait_for(lambda: engine.handles[0].aborts == 1)


def test_tokens_arrive_as_they_are_made() -> None:
    engine = FakeEngine([encode("abc")], {"hangs": True})
    with (
        served(lambda: _app(engine)) as url,
        httpx.stream("POST", url + CHAT, json=body(stream=True), timeout=20) as response,
    ):
        lines = (line for line in response.iter_lines() if line)
        said = [json.loads(next(lines)[6:])["choices"][0]["delta"] for _ in range(3)]
    assert [delta["content"] for delta in said] == ["a", "b", "c"]


async def _app(engine: FakeEngine) -> Any:
    return create_app(engine)


def _openai(url: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)


def _streamed(client: openai.OpenAI, messages: list[Any]) -> tuple[dict[str, Any], Any]:
    """One streamed turn, put together as an agent does."""
    message: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": []}
    stream = client.chat.completions.create(
        model="kvlab",
        messages=messages,
        tools=OPENAI_TOOLS,
        stream=True,
        stream_options={"include_usage": True},
    )
    for chunk in stream:
        usage = chunk.usage
        for choice in chunk.choices:
            delta = choice.delta.model_dump(exclude_none=True)
            if "reasoning_content" in delta:
                said = message.get("reasoning_content", "") + delta["reasoning_content"]
                message["reasoning_content"] = said
            message["tool_calls"] += delta.get("tool_calls", [])
            finish = choice.finish_reason
    assert finish == "tool_calls"
    return message, usage


def _holds(ids: list[int], part: list[int]) -> bool:
    return any(ids[at : at + len(part)] == part for at in range(len(ids)))


def _wait_for(happened: Any) -> None:
    until = time.monotonic() + 20
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.01)
