"""Caches are emptied before each arm; where they were not, the arm says so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.api import create_app
from engine.serving import open_engine
from lab.exposure import FLUSHED
from lab.judging import judge_arm
from lab.profiles import load_profile
from lab.records import ArmHistory
from lab.targets import flushing
from lab.targets.remote import run_remote
from lab.toggles import defaults, to_engine_config
from tests.engine.api.served import served
from tests.lab.driver.sick import CARD, Caller, Tell, sick, well
from tests.lab.targets.remotes import server, stranger_task, task

MODELS = {"/v1/models": {"data": [CARD]}}
SGLANG, VLLM = "/flush_cache", "/reset_prefix_cache?reset_external=true"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits between two tries."""
    monkeypatch.setattr(flushing, "PAUSE_S", 0.0)


def told(history: ArmHistory) -> list[dict[str, Any]]:
    return [fields for _, kind, fields in history.events if kind == FLUSHED]


def answers(*statuses: int, body: bytes = b"") -> Tell:
    """Each of these statuses in turn, the last one for ever."""
    left = list(statuses)

    async def tell(caller: Caller) -> None:
        status = left.pop(0) if len(left) > 1 else left[0]
        await caller.whole(f"{status} so", body)

    return tell


def hangs_up(times: int) -> Tell:
    """No answer so many times, then one."""
    left = [None] * times

    async def tell(caller: Caller) -> None:
        if left:
            left.pop()
            return caller.writer.close()
        await caller.whole("200 OK", b"")

    return tell


def driven(name: str, path: str, tell: Tell) -> tuple[ArmHistory, list[tuple[str, str]]]:
    """An arm at a server of that profile, and the requests that it got."""
    with sick(well, {**MODELS, path: tell}) as it:
        theirs = server(it.url, urls={"server": it.url})
        history = run_remote(stranger_task(turns=1), theirs, load_profile(name))
        return history, [(caller.method, caller.path) for caller in it.heard]


def test_a_launched_server_forgets_before_it_is_asked() -> None:
    history, heard = driven("sglang", SGLANG, answers(200))
    assert heard.count(("POST", SGLANG)) == 1
    assert heard.index(("POST", SGLANG)) < heard.index(("POST", "/v1/chat/completions"))
    assert told(history) == [{"where": f"POST {SGLANG}", "done": True, "warning": ""}]
    assert judge_arm(history)[0].reason == ""


def test_a_server_that_still_serves_somebody_is_asked_again() -> None:
    history, heard = driven("sglang", SGLANG, answers(400, 409, 503, 200))
    assert heard.count(("POST", SGLANG)) == 4
    assert told(history)[0]["done"]


def test_a_connection_that_breaks_once_is_no_refusal() -> None:
    history, heard = driven("sglang", SGLANG, hangs_up(1))
    assert heard.count(("POST", SGLANG)) == 2
    assert told(history)[0]["done"]


@pytest.mark.parametrize(
    ("name", "path", "tell", "why", "times"),
    [
        *(
            ("sglang", SGLANG, answers(no), f"HTTP {no}", 1)
            for no in (307, 401, 403, 404, 422, 500)
        ),
        ("sglang", SGLANG, hangs_up(flushing.TRIES), "disconnected: ", flushing.TRIES),
        ("sglang", SGLANG, answers(400), "HTTP 400", flushing.TRIES),
        ("vllm", VLLM, answers(200, body=b'{"success": false}'), "it is still", flushing.TRIES),
    ],
)
def test_a_server_that_does_not_forget_makes_the_arm_say_so(
    name: str, path: str, tell: Tell, why: str, times: int
) -> None:
    history, heard = driven(name, path, tell)
    assert heard.count(("POST", path)) == times
    warning = f"the server's caches were not flushed before: POST {path}: {why}"
    assert str(told(history)[0]["warning"]).startswith(warning)
    verdict, _ = judge_arm(history)
    assert verdict.verdict == "clean" and verdict.reason.startswith(warning)


def test_vllm_says_that_it_has_forgotten() -> None:
    history, _ = driven("vllm", VLLM, answers(200, body=b'{"success": true}'))
    assert told(history)[0]["done"]


@pytest.mark.parametrize(("flush", "times"), [("", 0), (SGLANG, 1)])
def test_somebody_s_server_is_flushed_only_where_the_scenario_says_so(
    flush: str, times: int
) -> None:
    with sick(well, {**MODELS, SGLANG: answers(200)}) as it:
        history = run_remote(stranger_task(turns=1), server(it.url, flush=flush))
        assert [caller.path for caller in it.heard].count(SGLANG) == times
    assert len(told(history)) == times


def test_an_arm_is_not_warmed_by_the_one_before_it() -> None:
    settings = {**defaults(), "concurrency": 8}

    async def start() -> Any:
        return create_app(open_engine(to_engine_config(settings, build=(), seed=0)))

    with served(start) as url:
        cold, warm, again = (
            run_remote(replace(task(sessions=1, turns=1), name=name), server(url, flush=flush))
            for name, flush in (("cold", ""), ("warm", ""), ("again", SGLANG))
        )
    cached = [arm.replies[0].cached_tokens for arm in (cold, warm, again)]
    assert cached[0] == cached[2] == 0 < cached[1]
