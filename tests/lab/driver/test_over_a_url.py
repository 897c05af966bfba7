"""The same driver against a URL: uvicorn on loopback, real streaming, the wall's clock."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import httpx
import pytest

from engine import clock
from engine.api import create_app
from lab.detectors import Context, examine
from lab.driver import Load, Recorder, drive
from lab.driver.throttle import Capped
from tests.engine.api.served import served
from tests.lab.driver.followers import Follower
from tests.lab.driver.servers import SCHEMAS, plans

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from lab.records import Reply


def over_url(recorder: Recorder, load: Load, per_second: int) -> list[Reply]:
    async def main(url: str) -> None:
        async with httpx.AsyncClient(base_url=url, timeout=30.0) as http:
            await drive(http, load, recorder, Capped(per_second))

    async def start() -> ASGIApp:
        return create_app(Follower(interval=7))

    with served(start) as url:
        asyncio.run(main(url))
    return recorder.replies()


@pytest.mark.parametrize("streamed", [True, False])
def test_sessions_over_a_url_are_what_they_are_in_process(streamed: bool) -> None:
    replies = over_url(Recorder(plans(sessions=3)), Load(stream=streamed), per_second=50)
    context = Context(tools=SCHEMAS)
    assert [found for reply in replies for found in examine(reply, context)] == []
    assert all(reply.raw_text == reply.expected_text for reply in replies)
    assert all(r.first_token_s is not None and r.done_s is not None for r in replies)
    if streamed:
        assert all((r.first_token_s or 0.0) < (r.done_s or 0.0) - 0.3 for r in replies)


def test_requests_to_a_url_are_capped_by_the_wall_clock() -> None:
    load = Load(stream=False)
    replies = over_url(Recorder(plans(sessions=6, turns=1)), load, per_second=4)
    assert max(r.sent_s for r in replies) >= 0.9


def test_a_client_that_leaves_a_url_is_owed_nothing() -> None:
    load = replace(Load(), abort_rate=1.0, abort_within_s=0.3)
    replies = over_url(Recorder(plans(sessions=2, turns=1)), load, per_second=50)
    assert [(r.status, r.due) for r in replies] == [("aborted", False)] * 2


def test_nobody_listening_is_a_transport_error() -> None:
    recorder = Recorder(plans(sessions=1, turns=1))

    async def main() -> None:
        async with httpx.AsyncClient(base_url="http://127.0.0.1:9") as http:
            await drive(http, Load(), recorder)

    asyncio.run(main())
    assert recorder.replies()[0].status == "transport_error"


def test_a_wall_clock_cap_is_refused_under_the_virtual_clock() -> None:
    async def main() -> None:
        Capped(5)

    with pytest.raises(ValueError, match="virtual"):
        clock.run(main())
