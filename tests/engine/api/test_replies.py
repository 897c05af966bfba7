"""What a good request gets: one object or a stream that adds up to the same."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import clock
from engine.config import EngineConfig
from engine.text.template import render
from engine.text.tokenizer import EOS, encode
from tests.engine.api.conversation import OPENAI_TOOLS, USER, events, message_of, post
from tests.engine.api.fakes import FakeEngine, client
from tests.engine.text.samples import GET_RECORD, HEALTHY, block

LEAK = "<think>t</think>\n\n" + block(GET_RECORD).replace("parameter name", "parameuer name", 1)


def test_a_tool_call_comes_parsed_with_its_reasoning_and_usage() -> None:
    engine = FakeEngine([HEALTHY], {"cached_tokens": 256})
    answer = post(engine, tools=OPENAI_TOOLS, return_token_ids=True).json()
    choice = answer["choices"][0]
    assert answer["object"] == "chat.completion"
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"] == {
        "role": "assistant",
        "content": None,
        "reasoning_content": "Call get_record for K.",
        "tool_calls": [
            {
                "id": "call_1_0",
                "type": "function",
                "function": {
                    "name": "get_record",
                    "arguments": '{"table": "ORDERS", "row": "7X"}',
                },
            }
        ],
    }
    ids = [*encode(HEALTHY), EOS]
    prompt = render([USER], OPENAI_TOOLS)
    assert choice["token_ids"] == ids
    assert answer["usage"] == {
        "prompt_tokens": len(prompt),
        "completion_tokens": len(ids),
        "total_tokens": len(prompt) + len(ids),
        "prompt_tokens_details": {"cached_tokens": 256},
    }
    assert engine.submitted == [(prompt, 8192 - len(prompt), ())]


@pytest.mark.parametrize(("pages", "room"), [(2, 512), (31, 31 * 256), (32, 8192), (1024, 8192)])
def test_without_max_tokens_a_reply_gets_the_room_that_context_and_pool_leave(
    pages: int, room: int
) -> None:
    engine = FakeEngine(["a"], config=EngineConfig(pool_pages=pages))
    assert post(engine).status_code == 200
    prompt, max_tokens, _ = engine.submitted[0]
    assert len(prompt) + max_tokens == room


@pytest.mark.parametrize("reply", [HEALTHY, LEAK, "plain", "", "<think>no end", "<think></think>"])
@pytest.mark.parametrize("group", [1, 2, 3, 5, 1000])
def test_a_stream_adds_up_to_the_whole_answer(reply: str, group: int) -> None:
    whole = post(FakeEngine([reply]), tools=OPENAI_TOOLS, return_token_ids=True).json()
    response = post(
        FakeEngine([reply], {"group": group}),
        tools=OPENAI_TOOLS,
        return_token_ids=True,
        stream=True,
        stream_options={"include_usage": True},
    )
    assert response.headers["content-type"].startswith("text/event-stream")
    *chunks, last = events(response.text)
    ends = [chunk["choices"][0] for chunk in chunks]
    assert message_of(chunks) == whole["choices"][0]["message"]
    assert [end["finish_reason"] for end in ends[:-1]] == [None] * (len(ends) - 1)
    assert ends[-1]["finish_reason"] == whole["choices"][0]["finish_reason"]
    assert ends[-1]["token_ids"] == whole["choices"][0]["token_ids"]
    assert (last["choices"], last["usage"]) == ([], whole["usage"])
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert {chunk["id"] for chunk in chunks} == {whole["id"]}


def test_usage_is_streamed_only_when_asked_for() -> None:
    chunks = events(post(FakeEngine(["a"]), stream=True).text)
    assert not any("usage" in chunk for chunk in chunks)
    assert "token_ids" not in chunks[-1]["choices"][0]


def test_text_is_streamed_as_it_comes() -> None:
    chunks = events(post(FakeEngine(["abc"]), stream=True).text)
    said = [chunk["choices"][0]["delta"].get("content") for chunk in chunks]
    assert said == ["a", "b", "c", None]


def test_a_leak_is_content_and_ends_with_stop() -> None:
    choice = post(FakeEngine([LEAK]), tools=OPENAI_TOOLS).json()["choices"][0]
    assert choice["finish_reason"] == "stop"
    assert choice["message"]["content"] == LEAK.partition("</think>")[2]
    assert "tool_calls" not in choice["message"]


@pytest.mark.parametrize(
    ("choice", "reason", "said"),
    [
        ("auto", "tool_calls", "# Tools\nget_record(table, row)\nnote()\n\n"),
        ("required", "tool_calls", "# Tools\nget_record(table, row)\nnote()\n\n"),
        ("none", "stop", ""),
        (
            {"type": "function", "function": {"name": "get_record"}},
            "tool_calls",
            "# Tools\nget_record(table, row)\nnote()\n\n",
        ),
        (
            {"type": "function", "function": {"name": "note"}},
            "stop",
            "# Tools\nget_record(table, row)\nnote()\n\n",
        ),
    ],
)
def test_tool_choice_narrows_what_is_a_call(choice: object, reason: str, said: str) -> None:
    engine = FakeEngine([HEALTHY])
    answer = post(engine, tools=OPENAI_TOOLS, tool_choice=choice).json()
    assert answer["choices"][0]["finish_reason"] == reason
    assert bytes(engine.submitted[0][0][1:-4]).decode() == said


def test_a_reply_cut_at_max_tokens_says_length_and_leaks_its_block() -> None:
    choice = post(FakeEngine([HEALTHY]), tools=OPENAI_TOOLS, max_tokens=60).json()["choices"][0]
    assert choice["finish_reason"] == "length"
    assert choice["message"]["content"].startswith("\n\n<\uff5cDSML\uff5ctool_calls>")


def test_a_character_cut_in_half_reads_as_the_replacement_character() -> None:
    answer = post(FakeEngine([encode("a€")[:3]])).json()
    assert answer["choices"][0]["message"]["content"] == "a\ufffd"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("stop", "said"), [("lo w", "hel"), (["zz", "world", "o w"], "hell"), ("hello world!", "")]
)
def test_a_stop_text_ends_the_reply_before_it(stop: object, said: str, stream: bool) -> None:
    engine = FakeEngine(["hello world! and on"], {"pace_s": 1.0})
    response = post(engine, stop=stop, stream=stream)
    if stream:
        chunks = events(response.text)
        choice = chunks[-1]["choices"][0] | {"message": message_of(chunks)}
    else:
        choice = response.json()["choices"][0]
    assert choice["message"]["content"] == said
    assert choice["finish_reason"] == "stop"
    assert engine.handles[0].aborts == 1  # nobody reads the rest


@given(st.text("ab", max_size=12), st.lists(st.text("ab", min_size=1, max_size=4), max_size=3))
def test_a_stop_text_cuts_at_its_first_place(text: str, stops: list[str]) -> None:
    answer = post(FakeEngine([text]), stop=stops).json()
    # the first stop text to be completed ends the reply
    ends = [text.find(stop) + len(stop) for stop in stops if stop in text]
    seen = text[: min(ends)] if ends else text
    cuts = [seen.find(stop) for stop in stops if stop in seen]
    assert answer["choices"][0]["message"]["content"] == (seen[: min(cuts)] if cuts else seen)


def test_an_abort_by_the_engine_is_told() -> None:
    engine = FakeEngine([encode("abc")], {"ends": "abort"})
    assert post(engine).json()["choices"][0]["finish_reason"] == "abort"
    assert engine.handles[0].aborts == 0


def test_a_second_turn_renders_the_first_as_it_was_generated() -> None:
    engine = FakeEngine([HEALTHY, LEAK, "done"])
    messages: list[dict[str, object]] = [USER]
    for _ in range(2):
        answer = post(engine, messages=messages, tools=OPENAI_TOOLS).json()
        messages.append(answer["choices"][0]["message"])
        messages.append({"role": "tool", "tool_call_id": "call_1_0", "content": "ok"})
    post(engine, messages=messages, tools=OPENAI_TOOLS)
    prompt = engine.submitted[-1][0]
    for reply in (HEALTHY, LEAK):
        ids = [*encode(reply), EOS]
        assert any(prompt[at : at + len(ids)] == ids for at in range(len(prompt)))


def test_the_other_endpoints() -> None:
    async def go() -> list[object]:
        async with client(FakeEngine()) as http:
            paths = ("/health", "/v1/models", "/v1/models/kvlab", "/server_info")
            return [(await http.get(path)).json() for path in paths]

    card = {"id": "kvlab", "object": "model", "created": 0, "owned_by": "kvlab"}
    health, models, one, info = clock.run(go())
    assert health == {"status": "ok"}
    assert models == {"object": "list", "data": [card]}
    assert one == card
    assert info == json.loads(json.dumps(FakeEngine().config.as_dict()))
