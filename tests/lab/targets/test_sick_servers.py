"""Whatever a server does, each way to fail is told apart, and none is counted corrupt or clean."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from lab.errors import TargetError, UserError
from lab.judging import judge_arm
from lab.targets import failure
from lab.targets.remote import run_remote
from tests.lab.driver.sick import DONE, GOOD, Caller, event, says, sick, well
from tests.lab.targets.remotes import server, stranger_task

if TYPE_CHECKING:
    from lab.records import ArmHistory


async def half(caller: Caller) -> None:
    await caller.begin()
    await caller.part(says(content="hello"))
    await caller.end()


async def in_an_event(caller: Caller) -> None:
    await caller.begin()
    await caller.part(GOOD[:90])
    await caller.end()


async def in_a_character(caller: Caller) -> None:
    await caller.begin()
    await caller.part(GOOD[: GOOD.index("ö".encode()) + 1])
    await caller.end()


async def torn(caller: Caller) -> None:
    await caller.begin()
    await caller.part(says(content="hello"))
    caller.reset()


async def closed(caller: Caller) -> None:
    await caller.begin()
    await caller.part(says(content="hello"))
    caller.writer.close()


async def closed_at_once(caller: Caller) -> None:
    caller.writer.close()


async def stalls(caller: Caller) -> None:
    await caller.begin()
    await caller.part(says(content="hello"))
    await caller.never()


async def silent(caller: Caller) -> None:
    await caller.never()


async def only_a_head(caller: Caller) -> None:
    await caller.begin()
    await caller.never()


async def nothing(caller: Caller) -> None:
    await caller.begin()
    await caller.end()


async def no_http(caller: Caller) -> None:
    await caller.send(b"220 mail.example.org ESMTP\r\n\r\n")
    await caller.never()


def streamed(*parts: bytes) -> Callable[[Caller], Awaitable[None]]:
    async def tell(caller: Caller) -> None:
        await caller.begin()
        for part in parts:
            await caller.part(part)
        await caller.end()

    return tell


def refused(status: str, body: bytes = b"", **headers: str) -> Callable[[Caller], Awaitable[None]]:
    async def tell(caller: Caller) -> None:
        await caller.whole(status, body, **headers)

    return tell


NO_MODEL = b'{"error": {"message": "The model `x` does not exist.", "code": "model_not_found"}}'
ILL: dict[str, tuple[Callable[[Caller], Awaitable[None]], str, str]] = {
    "500": (refused("500 Internal Server Error", b"oops"), "transport_error", "HTTP 500: oops"),
    "503": (refused("503 Service Unavailable"), "transport_error", "HTTP 503: an empty body"),
    "429": (
        refused("429 Too Many Requests", b'{"error": {"message": "slow down"}}', retry_after="7"),
        "transport_error",
        "HTTP 429: slow down (Retry-After: 7)",
    ),
    "wrong model": (refused("404 Not Found", NO_MODEL), "transport_error", "HTTP 404: model_not"),
    "half a stream": (half, "transport_error", "half a reply: ended without [DONE]"),
    "no finish": (
        streamed(says(content="hello"), DONE),
        "transport_error",
        "half a reply: ended without a finish_reason",
    ),
    "cut in an event": (in_an_event, "transport_error", "half a reply: cut inside an event"),
    "cut in a character": (in_a_character, "transport_error", "half a reply: cut inside a char"),
    "torn": (torn, "transport_error", "reset: "),
    "closed": (closed, "transport_error", "disconnected: "),
    "closed at once": (closed_at_once, "transport_error", "disconnected: "),
    "nothing": (nothing, "transport_error", "nothing: the body is empty"),
    "no HTTP": (no_http, "transport_error", "malformed: "),
    "no events": (streamed(b"<html>\n\n"), "transport_error", "malformed: not an event"),
    "no JSON": (streamed(b"data: {oops}\n\n"), "transport_error", "malformed: not JSON"),
    "no UTF-8": (streamed(b"data: \xff\xfe\n\n"), "transport_error", "malformed: not UTF-8"),
    "after the end": (streamed(GOOD, says(content="more")), "transport_error", "malformed: an ev"),
    "an error event": (
        streamed(says(content="hel"), event(error={"message": "out of memory", "code": "oom"})),
        "transport_error",
        "oom: out of memory",
    ),
    "stalls": (stalls, "timeout", "stalled: no part for 0.2 s, after 1 parts"),
    "silent": (silent, "timeout", "no answer after 0.5 s"),
    "only a head": (only_a_head, "timeout", "no answer after 0.5 s"),
}


def driven(tell: Callable[[Caller], Awaitable[None]], **load: Any) -> ArmHistory:
    """Short of patience only with a server that never goes on."""
    waits = {"timeout_s": 0.5 if tell in (silent, only_a_head) else 60}
    waits |= {"stall_s": 0.2} if tell is stalls else {}
    with sick(tell) as it:
        return run_remote(stranger_task(turns=1, **waits, **load), server(it.url))


@pytest.mark.parametrize(("tell", "status", "error"), ILL.values(), ids=list(ILL))
def test_each_way_to_fail_is_told_apart_and_is_neither_corrupt_nor_clean(
    tell: Callable[[Caller], Awaitable[None]], status: str, error: str
) -> None:
    history = driven(tell)
    assert {reply.status for reply in history.replies} == {status}
    assert all((reply.error or "").startswith(error) for reply in history.replies)
    verdict, _ = judge_arm(history)
    assert verdict.verdict == ("wedged" if status == "timeout" else "inconclusive")
    assert (verdict.sessions_corrupt, verdict.unfinished) == (0, 2)


def test_no_two_ways_to_fail_have_the_same_words() -> None:
    errors = [error for _, _, error in ILL.values()]
    alike = {"no answer after 0.5 s": 2, "disconnected: ": 2}
    assert {error: errors.count(error) for error in errors if errors.count(error) > 1} == alike


@dataclass
class Ended:
    """A process of the server's that has ended."""

    why: str

    def died(self) -> str:
        return self.why


GOOD_STREAMS = {
    "as it is": [GOOD],
    "twice done": [GOOD, DONE],
    "usage of null": [
        says(content="hello wörld｜"),
        event(usage=None, choices=[]),
        says("stop"),
        DONE,
    ],
    "CRLF": [GOOD.replace(b"\n", b"\r\n")],
    "byte by byte": [bytes([byte]) for byte in GOOD],
    "comments": [b": ping\n\n", GOOD],
}


@pytest.mark.parametrize("parts", GOOD_STREAMS.values(), ids=list(GOOD_STREAMS))
def test_a_stream_is_read_whole_however_it_is_cut(parts: list[bytes]) -> None:
    history = driven(streamed(*parts))
    assert {(r.status, r.content, r.error) for r in history.replies} == {
        ("ok", "hello wörld｜", None)
    }


def test_a_failed_reply_keeps_what_came_of_it_as_it_was_cut() -> None:
    reply = driven(streamed(says(content="a"), says(content="b"))).replies[0]
    assert "".join(reply.chunks) == (says(content="a") + says(content="b")).decode()
    assert driven(well).replies[0].chunks == ()


def test_a_server_that_is_not_there_cannot_be_driven() -> None:
    with pytest.raises(
        TargetError, match=r"http://127\.0\.0\.1:9 does not answer: GET /v1/models: refused"
    ):
        run_remote(stranger_task(), server("http://127.0.0.1:9"))


def test_a_server_that_is_not_ready_cannot_be_driven() -> None:
    with sick(well, documents={}) as it:
        it.status = "503 Service Unavailable"
        with pytest.raises(TargetError, match=r"/v1/models: HTTP 503: it is not ready$"):
            run_remote(stranger_task(), server(it.url, model="x"))


def test_a_stream_that_stalls_while_others_go_on_is_no_wedge() -> None:
    async def first_one(caller: Caller) -> None:
        await (stalls if caller.server.heard.index(caller) < 5 else well)(caller)

    with sick(first_one) as it:
        history = run_remote(
            stranger_task(sessions=4, turns=1, stall_s=0.2, settings={"concurrency": 1}),
            server(it.url),
        )
    statuses = [reply.status for reply in history.replies]
    assert (statuses[0], statuses[-1]) == ("timeout", "ok")
    verdict, _ = judge_arm(history)
    assert verdict.verdict == "inconclusive"
    assert "stalled: no part for 0.2 s" in verdict.reason


def test_a_server_may_be_named_by_its_host() -> None:
    with sick(well) as it:
        url = it.url.replace("127.0.0.1", "localhost") + "/v1/"
        assert {r.status for r in run_remote(stranger_task(), server(url)).replies} == {"ok"}


def test_a_server_that_goes_away_leaves_what_it_served_and_its_death() -> None:
    async def once(caller: Caller) -> None:
        caller.server.close()
        await caller.begin(connection="close")
        await caller.part(GOOD)
        await caller.end()
        caller.writer.close()

    with sick(once) as it:
        history = run_remote(stranger_task(sessions=1, turns=2), server(it.url))
    assert [reply.status for reply in history.replies] == ["ok", "transport_error"]
    assert (history.replies[1].error or "").startswith("refused: ")
    assert failure(history) == "the engine died: it does not answer any more"
    verdict, _ = judge_arm(history)
    assert verdict.verdict == "inconclusive"


def test_a_launched_server_that_dies_ends_its_arm_at_once() -> None:
    with sick(silent) as it:
        ended = server(it.url, processes=(Ended("node decode ended with status -9"),))
        history = run_remote(stranger_task(timeout_s=600), ended)
    assert failure(history) == "the engine died: node decode ended with status -9"
    assert {(r.status, r.error) for r in history.replies if r.turn == 0} == {
        ("timeout", "node decode ended with status -9")
    }


def test_what_a_dying_server_said_is_kept_without_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KVLAB_TEST_KEY", "sk-very-secret-1234")
    with sick(silent) as it:
        processes = (Ended("--api-key sk-very-secret-1234, or sk-very-se..."),)
        dying = server(it.url, processes=processes, api_key_env="KVLAB_TEST_KEY")
        history = run_remote(stranger_task(timeout_s=600), dying)
    assert "sk-very" not in str((history.replies, history.events))


def test_a_server_that_serves_nothing_is_to_blame() -> None:
    assert failure(driven(ILL["500"][0])) == "the engine served nothing: HTTP 500: oops"


def test_a_server_that_never_answers_anybody_is_to_blame_and_one_that_stalls_is_not() -> None:
    why = failure(driven(silent)) or ""
    assert why.startswith("the engine served nothing: no answer after 0.5 s")
    assert failure(driven(stalls)) is None


def test_a_server_without_models_needs_the_model_s_name() -> None:
    with sick(well, documents={}) as it:
        with pytest.raises(UserError, match="`model` of the target names it"):
            run_remote(stranger_task(), server(it.url))
        assert run_remote(stranger_task(), server(it.url, model="x")).replies[0].status == "ok"
        assert {chat.asked["model"] for chat in it.heard if chat.asked} == {"x"}
