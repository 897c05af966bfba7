"""The bundled engine as somebody else's server: real HTTP on loopback, the same verdicts."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.api import create_app
from engine.serving import open_engine
from lab.errors import UserError
from lab.exposure import unexercised
from lab.judging import judge_arm
from lab.launching import Servers
from lab.profiles import load_profile
from lab.targets import failure
from lab.targets.remote import run_remote
from lab.toggles import defaults, to_engine_config
from lab.workloads import resolve
from tests.engine.api.served import served
from tests.lab.driver.sick import Caller, sick, well
from tests.lab.targets.remotes import server, stranger_task, task
from tests.lab.workloads.test_schemas import collection

if TYPE_CHECKING:
    from starlette.types import ASGIApp

ENGINE = {**defaults(), "concurrency": 8}


def bundled(build: tuple[str, ...] = (), **settings: object):
    config = to_engine_config(ENGINE | settings, build=build, seed=0)

    async def start() -> ASGIApp:
        return create_app(open_engine(config))

    return served(start)


def test_a_healthy_engine_over_a_url_is_clean() -> None:
    with bundled() as url:
        history = run_remote(task(sessions=1, turns=1), server(url))
    verdict, _ = judge_arm(history)
    assert verdict.verdict == "clean"
    assert [kind for _, kind, _ in history.events].count("generator") == 1
    assert all(reply.raw_text == reply.expected_text for reply in history.replies)


def test_the_text_of_a_stranger_is_not_known_and_the_due_call_is() -> None:
    with sick(well) as it:
        replies = run_remote(task(), server(it.url)).replies
    assert {reply.expected_text for reply in replies} == {""}
    assert all(reply.expected_call for reply in replies)


def test_somebody_s_server_gets_no_more_requests_than_the_scenario_says() -> None:
    with sick(well) as it:
        theirs = server(it.url, max_requests_per_s=2.5)
        replies = run_remote(stranger_task(sessions=3, turns=1), theirs).replies
    sent = sorted(reply.sent_s for reply in replies)
    assert sent[2] - sent[0] >= 0.75  # two at once, and the next ones 0.8 s later


def test_clients_of_a_quick_server_leave_in_time_to_leave_in_mid_reply() -> None:
    async def once(caller: Caller) -> None:
        asked = [it for it in caller.server.heard if it.asked]
        if len(asked) == 1:
            return await well(caller)
        await caller.begin()
        await caller.never()

    one = {"concurrency": 1, "abort_rate": 1.0}
    hasty = stranger_task(
        sessions=2, turns=1, abort_rate=1.0, abort_within_s=3000, timeout_s=60, settings=one
    )
    with sick(once) as it:
        history = run_remote(hasty, server(it.url))
    assert [reply.status for reply in history.replies] == ["ok", "aborted"]
    assert unexercised(history.settings, history.counters, foreign=True) == []


def test_a_load_that_the_bundled_model_cannot_follow_is_not_driven_against_it(
    tmp_path: Path,
) -> None:
    given = {"sessions": 1, "turns": 1, "data": collection(tmp_path)}
    strangers = resolve("tool_tasks", "small", given)
    asked = replace(task(), workload=strangers, plans=tuple(strangers.kept(0)))
    with sick(well, {"/v1/models": {"data": [{"id": "kvlab", "owned_by": "kvlab"}]}}) as it:
        with pytest.raises(UserError, match="accepted: form: manual"):
            run_remote(asked, server(it.url))
        assert not [caller for caller in it.heard if caller.asked]


@pytest.mark.slow
def test_a_launched_engine_that_is_killed_leaves_what_it_served(tmp_path: Path) -> None:
    with Servers(load_profile("kvlab_serve"), tmp_path) as servers:
        up = servers.up({"graph": False})

        def kill(done: int, due: int) -> None:
            if done == 1:
                os.kill(up.pids["server"], signal.SIGKILL)

        history = run_remote(replace(task(turns=2), progress=kill), up, servers.profile)
    assert (failure(history) or "").startswith("the engine died: node server")
    assert history.replies[0].status == "ok" or history.replies[2].status == "ok"
    assert not all(reply.status == "ok" for reply in history.replies)
    assert judge_arm(history)[0].verdict == "inconclusive"
