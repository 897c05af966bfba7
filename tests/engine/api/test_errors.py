"""What a bad request gets: OpenAI's error body, with the field at fault named."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from engine import clock
from engine.errors import EngineError, RequestRefused, RoomFailed
from tests.engine.api.conversation import CHAT, OPENAI_TOOLS, USER, body, post
from tests.engine.api.fakes import FakeEngine, client

if TYPE_CHECKING:
    import httpx

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def called(arguments: str) -> list[dict[str, Any]]:
    call = CALL | {"function": {"name": "f", "arguments": arguments}}
    return [USER, {"role": "assistant", "content": None, "tool_calls": [call]}]


BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"messages": []}, "messages", "at least 1"),
    ({"messages": "hi"}, "messages", "list"),
    ({"messages": [{"content": "x"}]}, "messages[0]", "role"),
    ({"messages": [{"role": "wizard", "content": "x"}]}, "messages[0]", "role"),
    ({"messages": [{"role": "user"}]}, "messages[0].content", "Missing"),
    ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content", "string"),
    (
        {"messages": [USER, {"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
        "messages[1].content[0].type",
        "text",
    ),
    ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].tool_call_id", "Missing"),
    (
        {"messages": called("{'a': 1}")},
        "messages[1].tool_calls[0].function.arguments",
        "Expecting property name",
    ),
    ({"messages": called("[]")}, "messages[1].tool_calls[0].function.arguments", "object"),
    (
        {"messages": [{"role": "assistant", "token_ids": [3, 999]}]},
        "messages[0].token_ids[1]",
        "272",
    ),
    ({"stream": "yes"}, "stream", "boolean"),
    ({"max_tokens": 0}, "max_tokens", "greater"),
    ({"max_tokens": 1.5}, "max_tokens", "integer"),
    ({"max_tokens": 5, "max_completion_tokens": 6}, "max_tokens", "differ"),
    ({"temperature": 3}, "temperature", "2"),
    ({"stop": ["a", ""]}, "stop[1]", "at least 1"),
    ({"n": 2}, "n", "default"),
    ({"logprobs": True}, "logprobs", "default"),
    ({"top_logprobs": 3}, "top_logprobs", "default"),
    ({"response_format": {"type": "json_object"}}, "response_format.type", "default"),
    ({"presence_penalty": 0.5}, "presence_penalty", "default"),
    ({"top_k": 5}, "top_k", "Unrecognized"),
    ({"stream_options": {"include_usage": True}}, "stream_options", "needs"),
    ({"tool_choice": "auto"}, "tool_choice", "tools"),
    ({"tool_choice": "maybe", "tools": OPENAI_TOOLS}, "tool_choice", "none"),
    (
        {"tool_choice": {"type": "function", "function": {"name": "g"}}, "tools": OPENAI_TOOLS},
        "tool_choice",
        "'g'",
    ),
    ({"tools": [OPENAI_TOOLS[0], OPENAI_TOOLS[0]]}, "tools", "one name"),
    (
        {"tools": [{"type": "function", "function": {"name": "no spaces"}}]},
        "tools[0].function.name",
        "pattern",
    ),
    (
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": {"required": 5}}}]},
        "tools[0].function.parameters.required",
        "list",
    ),
]


@pytest.mark.parametrize(("fields", "param", "said"), BAD, ids=[str(bad[0])[:60] for bad in BAD])
def test_a_bad_field_is_named(fields: dict[str, Any], param: str, said: str) -> None:
    response = post(FakeEngine(), **fields)
    error = response.json()["error"]
    assert response.status_code == 400
    assert (error["type"], error["param"]) == ("invalid_request_error", param)
    assert said in error["message"]


def test_a_missing_field_is_named() -> None:
    error = raw(b'{"model": "kvlab"}').json()["error"]
    assert (error["param"], error["message"]) == (
        "messages",
        "Missing required parameter: 'messages'.",
    )


def raw(
    content: bytes, method: str = "POST", path: str = CHAT, engine: FakeEngine | None = None
) -> httpx.Response:
    async def go() -> httpx.Response:
        async with client(engine or FakeEngine()) as http:
            return await http.request(method, path, content=content)

    return clock.run(go())


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"n": NaN}', b"[" * 100_000])
def test_a_body_that_is_no_json_object_is_refused(content: bytes) -> None:
    response = raw(content)
    assert (response.status_code, response.json()["error"]["param"]) == (400, None)


@pytest.mark.parametrize(
    "where",
    [
        b'{"model":"kvlab","messages":[{"role":"user","content":"\\ud800"}]}',
        b'{"model":"kvlab","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function",'
        b'"function":{"name":"f","parameters":{"properties":{"\\ud800":{}}}}}]}',
    ],
)
def test_half_a_surrogate_pair_is_refused(where: bytes) -> None:
    response = raw(where)
    assert (response.status_code, response.json()["error"]["type"]) == (
        400,
        "invalid_request_error",
    )


def test_an_unknown_model_is_not_found() -> None:
    response = post(FakeEngine(), model="gpt")
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "model_not_found"
    assert raw(b"", "GET", "/v1/models/gpt").json()["error"]["code"] == "model_not_found"


@pytest.mark.parametrize("fields", [{"max_tokens": 8190}, {"messages": [USER] * 3000}])
def test_a_request_beyond_the_context_is_refused(fields: dict[str, Any]) -> None:
    response = post(FakeEngine(), **fields)
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (400, "context_length_exceeded")
    assert error["message"].startswith("This model's maximum context length is 8192 tokens.")


def test_what_the_engine_refuses_is_the_clients_error() -> None:
    response = post(FakeEngine(refuses=RequestRefused("larger than the pool", "pool_exceeded")))
    assert response.status_code == 400
    assert response.json()["error"]["message"] == "larger than the pool"
    assert response.json()["error"]["code"] == "pool_exceeded"


def test_unknown_paths_and_wrong_methods_have_the_error_shape() -> None:
    unknown, wrong = raw(b"", "GET", "/v1/nothing"), raw(b"", "GET")
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "unknown_url")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (405, "method_not_allowed")
    assert wrong.headers["allow"] == "POST"


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (EngineError("broken"), "broken"),
        (RuntimeError("out of memory"), "The server failed: RuntimeError('out of memory')"),
        (KeyError(), "The server failed: KeyError()"),
    ],
)
def test_an_engine_that_fails_in_a_stream_ends_it_with_an_error_event(
    fault: Exception, message: str
) -> None:
    engine = FakeEngine([[65]], {"fails": fault})
    text = post(engine, stream=True).text
    assert "[DONE]" not in text
    assert f'"error": {{"message": "{message}", "type": "server_error"' in text
    assert engine.handles[0].aborts == 1


ROOM = RoomFailed(17, "WaitingForInput", 300.0, "no end in time")
FAILED = {
    "message": "room 17 failed in WaitingForInput after 300.000 s: no end in time",
    "type": "server_error",
    "param": None,
    "code": "room_failed",
}


@pytest.mark.parametrize("said", [[], [65, 66]], ids=["before the first token", "after it"])
def test_a_room_that_failed_ends_a_stream_with_its_own_error_event(said: list[int]) -> None:
    text = post(FakeEngine([said], {"fails": ROOM}), stream=True).text
    *deltas, last, end = text.split("\n\n")
    assert (len(deltas), end) == (len(said), "")
    assert json.loads(last.removeprefix("data: ")) == {"error": FAILED}


@pytest.mark.parametrize("said", [[], [65, 66]], ids=["before the first token", "after it"])
def test_a_room_that_failed_answers_a_whole_reply_with_500(said: list[int]) -> None:
    response = post(FakeEngine([said], {"fails": ROOM}))
    assert (response.status_code, response.json()) == (500, {"error": FAILED})


def test_an_engine_whose_loop_died_is_not_healthy() -> None:
    response = raw(b"", "GET", "/health", FakeEngine(died=RuntimeError("out of memory")))
    assert response.status_code == 503
    assert response.json()["error"] == {
        "message": "The engine's loop died: RuntimeError('out of memory')",
        "type": "server_error",
        "param": None,
        "code": None,
    }


def test_a_crash_has_the_error_shape() -> None:
    async def go() -> httpx.Response:
        http = client(FakeEngine())  # a fake without a reply raises IndexError
        http._transport.raise_app_exceptions = False  # type: ignore[attr-defined]
        async with http:
            return await http.post(CHAT, json=body())

    response = clock.run(go())
    assert response.status_code == 500
    assert response.json()["error"]["type"] == "server_error"
