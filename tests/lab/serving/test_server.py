"""The server about its engine: one that dies, one that hangs, and what is said of either."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from engine.config import EngineConfig, ModelConfig
from engine.engine import Engine
from engine.errors import EngineError
from lab.serving import server as module
from lab.serving.listening import listen, url_of
from lab.serving.server import Answering, Server

CONFIG = EngineConfig(pool_pages=8, model=ModelConfig(index_topk=16))
CHAT = "/v1/chat/completions"
ASKED = {"model": "kvlab", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 4}
PATIENCE_S = 60


class Dying(Engine):
    """An engine whose first step is its last."""

    async def _after(self, batch: Any, work: Any) -> Any:
        raise RuntimeError("CUDA error:\nan illegal access")


class Hanging(Engine):
    """An engine whose first step never ends."""

    async def _after(self, batch: Any, work: Any) -> Any:
        await asyncio.Event().wait()


@dataclass
class Running:
    """A server in a thread, with a loop of its own."""

    url: str
    server: Server
    thread: threading.Thread
    said: list[str] = field(default_factory=list)

    def stop(self, times: int = 1) -> None:
        """What the signals do that `kvlab serve` hears."""
        self.server.signals += [signal.SIGTERM] * times

    def ended(self) -> bool:
        self.thread.join(PATIENCE_S)
        return not self.thread.is_alive()


@contextmanager
def running(engine: type[Engine]) -> Iterator[Running]:
    taken, said, listens = listen("127.0.0.1", 0), [], threading.Event()

    def say(line: str) -> None:
        said.append(line)
        listens.set()

    server = Server(engine(CONFIG), say)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([taken])))
    url = url_of(taken)
    thread.start()
    assert listens.wait(PATIENCE_S)
    found = Running(url, server, thread, said)
    try:
        yield found
    finally:
        found.stop(times=2)
        assert found.ended()


def test_a_dead_engine_is_answered_for_and_said_once() -> None:
    with running(Dying) as it, httpx.Client(base_url=it.url, timeout=PATIENCE_S) as http:
        answers = [http.post(CHAT, json=ASKED) for _ in range(2)]
        health, metrics = http.get("/health"), http.get("/metrics")
        info = http.get("/server_info")
    assert [answer.status_code for answer in answers] == [500, 500]
    assert all("illegal access" in answer.json()["error"]["message"] for answer in answers)
    assert (health.status_code, info.status_code) == (503, 200)
    assert "illegal access" in health.json()["error"]["message"]
    assert "kvlab_up 0\n" in metrics.text
    died = "the engine died: RuntimeError: CUDA error: an illegal access"
    assert it.said[1:] == [f"{died}; requests are answered with 500", "stopped"]


def test_a_stream_that_the_engine_s_death_cuts_says_so() -> None:
    with running(Dying) as it:
        answer = httpx.post(it.url + CHAT, json={**ASKED, "stream": True}, timeout=PATIENCE_S)
    assert "illegal access" in answer.text and "[DONE]" not in answer.text


@pytest.mark.parametrize(("drain_s", "signals"), [(0, 1), (10_000, 2)])
def test_a_request_that_hears_nothing_is_ended_at_the_stop(
    drain_s: int, signals: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "DRAIN_S", drain_s)
    with running(Hanging) as it:
        path = it.url + CHAT
        with httpx.stream("POST", path, json={**ASKED, "stream": True}, timeout=60) as answer:
            it.stop(signals)
            said = answer.read().decode()
        assert it.ended()
    assert '"finish_reason":"abort"' in said and said.endswith("data: [DONE]\n\n")
    assert it.said[1:] == ["stopped"]


def test_the_history_that_nobody_reads_is_let_go_and_what_was_counted_is_kept() -> None:
    async def go() -> tuple[list[Any], dict[str, int]]:
        engine = Engine(CONFIG)
        engine.events.violation("any")
        await Server(engine, print).on_tick(0)
        return engine.events.events, engine.events.counters

    assert asyncio.run(go()) == ([], {"violation:any": 1})


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (KeyError("of ours"), ["a request failed: KeyError: 'of ours'"]),
        (EngineError("told to the client"), []),
    ],
)
def test_a_fault_of_ours_is_said_and_a_refusal_is_not(error: Exception, says: list[str]) -> None:
    said: list[str] = []

    async def app(*_: Any) -> None:
        raise error

    async def go() -> None:
        await Answering(app, Engine(CONFIG), said.append)({}, None, None)  # type: ignore[arg-type]

    asyncio.run(go())
    assert said == says
