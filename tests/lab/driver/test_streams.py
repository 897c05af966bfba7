"""What a stream's events leave: text, reasoning, calls, usage, tiers and the pace of its parts."""

from __future__ import annotations

import itertools
import json
from codecs import getincrementaldecoder
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import clock
from engine.text.tokenizer import EOS, encode
from lab.detectors import Context, examine
from lab.driver.client import Ask, ask
from lab.driver.pace import gaps_ms
from lab.driver.received import Received
from lab.driver.sse import BrokenStream, SseReader
from lab.driver.url import client
from lab.targets.remote import run_remote
from tests.lab.driver.servers import SCHEMAS
from tests.lab.driver.sick import DONE, Caller, says, sick, well
from tests.lab.replies import call
from tests.lab.targets.remotes import server, stranger_task

MARKERS = "<think>｜DSML｜ ‖ </think> <tool_call> ö"


def received(*deltas: dict[str, Any], **last: Any) -> Received:
    got = Received()
    for at, delta in enumerate(deltas):
        got.take_delta({"choices": [{"delta": delta}]}, float(at))
    got.take_delta({"choices": [], **last}, 99.0)
    return got


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_reasoning_is_kept_and_sent_back_under_the_server_s_own_name(key: str) -> None:
    got = received({key: "be"}, {key: "cause"}, {"content": "x"})
    assert (got.reasoning, got.content) == ("because", "x")
    assert got.message() == {"role": "assistant", "content": "x", key: "because"}


def test_reasoning_that_is_said_under_both_names_is_said_once() -> None:
    assert received({"reasoning": "so", "reasoning_content": "so"}).reasoning == "so"


def test_only_parts_that_say_something_have_a_time() -> None:
    got = received({"role": "assistant", "content": ""}, {"content": "a"}, {}, {"content": "b"})
    assert (got.first_token_s, got.token_times) == (1.0, [1.0, 3.0])


def test_two_calls_at_one_index_are_no_reply() -> None:
    first, second = (
        {"tool_calls": [{"index": 0, "id": name, "function": {"name": name, "arguments": "{}"}}]}
        for name in ("look", "send")
    )
    with pytest.raises(BrokenStream, match="two tool calls at 0"):
        received(first, second)


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None}])
def test_a_usage_of_nothing_is_no_mistake(usage: dict[str, Any] | None) -> None:
    got = received({"content": "a"}, usage=usage)
    assert (got.content, got.reports_cache) == ("a", False)


def test_tiers_are_sglang_s_and_their_backend_is_no_number() -> None:
    details = {"device": 256, "host": 64, "storage_backend": "file"}
    got = received({"content": "a"}, sglext={"cached_tokens_details": details})
    assert got.cached_tiers == {"device": 256, "host": 64}


def test_an_error_of_null_is_none() -> None:
    assert received({"content": "a"}, error=None).content == "a"


def test_gaps_are_ranked_in_milliseconds() -> None:
    times = list(itertools.accumulate([0.0, *[0.01] * 98, 0.05, 1.0]))
    assert gaps_ms(times) == {"n": 100, "mean": 20.3, "p50": 10.0, "p99": 50.0, "max": 1000.0}
    assert (gaps_ms([]), gaps_ms([1.0])) == ({}, {})


@settings(deadline=None)
@given(cuts=st.lists(st.integers(0, 2000)), size=st.integers(1, 9))
def test_bytes_cut_anywhere_are_the_same_reply(cuts: list[int], size: int) -> None:
    text = f"{MARKERS} {call()}"
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    raw = b"".join(says(content=piece) for piece in pieces) + says("stop") + DONE
    places = sorted({0, *(cut % len(raw) for cut in cuts), len(raw)})
    got, reader = Received(), SseReader()
    decoder = getincrementaldecoder("utf-8")()
    for a, b in itertools.pairwise(places):
        for event in reader.feed(decoder.decode(raw[a:b])):
            got.take_delta(event, 0.0)
    reader.finish()
    assert got.content == text


def test_sessions_keep_their_connections() -> None:
    with sick(well) as it:
        history = run_remote(stranger_task(sessions=5, turns=4), server(it.url))
    assert {reply.status for reply in history.replies} == {"ok"}
    assert len([chat for chat in it.heard if chat.asked]) == 20
    assert it.connections < 20


def test_the_time_of_a_part_is_the_client_s_clock() -> None:
    async def apart(caller: Caller) -> None:
        await caller.begin()
        await caller.part(says(content="a"))
        await clock.sleep(0.05)
        await caller.part(says(content="b") + says("stop") + DONE)
        await caller.end()

    with sick(apart) as it:
        (reply,) = run_remote(stranger_task(sessions=1, turns=1), server(it.url)).replies
    assert reply.gaps_ms["n"] == 1
    assert reply.first_token_s is not None and reply.last_token_s is not None
    between_ms = (reply.last_token_s - reply.first_token_s) * 1e3
    assert reply.gaps_ms["max"] == pytest.approx(between_ms, abs=0.001)
    assert reply.sent_s < reply.first_token_s < reply.last_token_s <= (reply.done_s or 0.0)


def test_an_arm_ends_where_its_watcher_says_so() -> None:
    with sick(well) as it:
        history = run_remote(
            stranger_task(sessions=3, turns=3, watch=lambda event: event.kind == "reply"),
            server(it.url),
        )
    kinds = [kind for _, kind, _ in history.events]
    assert (kinds[-1], kinds.count("reply")) == ("reply", 1)
    missing = [reply.error for reply in history.replies if reply.status == "timeout"]
    assert all((error or "").startswith("the arm was ended at ") for error in missing)


def test_what_a_dsml_server_says_is_parsed_again_by_ours() -> None:
    text = call()

    async def leaky(caller: Caller) -> None:
        await caller.begin()
        choice = {"delta": {}, "finish_reason": "stop", "token_ids": [*encode(text), EOS]}
        end = b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"
        await caller.part(says(content=text) + end + DONE)
        await caller.end()

    ours = {"/v1/models": {"data": [{"id": "kvlab", "owned_by": "kvlab"}]}}
    with sick(leaky, ours) as it:
        (reply,) = run_remote(stranger_task(sessions=1, turns=1), server(it.url)).replies
    assert reply.raw_text == text
    found = {finding.detector for finding in examine(reply, Context(tools=SCHEMAS))}
    assert "parser_fault" in found
    with sick(leaky) as it:
        (reply,) = run_remote(stranger_task(sessions=1, turns=1), server(it.url)).replies
    assert reply.raw_text is None


def test_a_request_is_sent_when_it_goes_out_not_when_it_waits_for_a_connection() -> None:
    """Else the client's own work at the start of hundreds of sessions looks like the server's."""

    async def main(url: str) -> tuple[float, float, float]:
        async with client(url, {}) as http:
            before_s = clock.now()
            outcome = await ask(http, Ask([], [], True, 9, 60.0))
            return before_s, outcome.sent_s, outcome.received.first_token_s or 0.0

    with sick(well) as it:
        before_s, sent_s, first_s = clock.run_wall(main(it.url))
    assert before_s < sent_s < first_s
