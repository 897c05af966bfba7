"""The bundled engine as somebody else's server: real HTTP on loopback, the same verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.api import create_app
from engine.serving import open_engine
from lab.judging import judge_arm
from lab.targets.remote import run_remote
from lab.toggles import defaults, to_engine_config
from tests.engine.api.served import served
from tests.lab.driver.sick import sick, well
from tests.lab.targets.remotes import server, task

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
