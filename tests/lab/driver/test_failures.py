"""A failure's word, and what its client knows of it."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from lab.driver.failures import broken, overdue, retry_after_s
from lab.driver.url import client


def connecting(url: str) -> str:
    """What connecting there fails of."""

    async def main() -> str:
        async with client(url, {}) as http:
            try:
                await http.get("/")
            except httpx.HTTPError as error:
                return broken(error, 0)
        return ""

    return asyncio.run(main())


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_nobody_listening_is_a_refusal_whatever_the_host_is_called(host: str) -> None:
    assert connecting(f"http://{host}:9").startswith("refused: ConnectError: ")


@pytest.mark.parametrize(
    ("error", "word"),
    [
        (httpx.ReadError(""), "reset: ReadError, after 3 parts"),
        (httpx.WriteError("broken pipe"), "reset: WriteError: broken pipe, after 3 parts"),
        (httpx.ConnectTimeout("late"), "unreachable: ConnectTimeout: late"),
        (
            httpx.RemoteProtocolError("Server disconnected without sending a response."),
            "disconnected: RemoteProtocolError: Server disconnected without sending a response., "
            "after 3 parts",
        ),
        (
            httpx.RemoteProtocolError("illegal status line"),
            "malformed: RemoteProtocolError: illegal status line, after 3 parts",
        ),
    ],
)
def test_each_error_of_a_connection_has_its_word(error: httpx.HTTPError, word: str) -> None:
    assert broken(error, 3) == word


def test_a_client_that_gave_up_says_how_far_the_reply_had_come() -> None:
    assert overdue(600.0, 0, None) == "no answer after 600 s"
    assert overdue(600.0, 7, 12.3456) == "no end after 600 s: after 7 parts, 12.346 s before"


def test_a_server_s_wish_is_read_in_seconds_and_a_date_is_none() -> None:
    wishes = ["3", "3600", "Wed, 21 Oct 2026 07:28:00 GMT", "-1", ""]
    assert [retry_after_s({"retry-after": wish}) for wish in wishes] == [3.0, 60.0, 0.0, 0.0, 0.0]
    assert retry_after_s({}) == 0.0
