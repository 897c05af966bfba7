"""Our connections under httpx: real sockets on loopback, and servers that answer as they like."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import httpx
import pytest

from engine import clock
from lab.driver.wire import Wire

Chat = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Client = Callable[[httpx.AsyncClient], Awaitable[None]]
HELLO = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"
CHUNKS = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


def over(chat: Chat, client: Client, **given: object) -> None:
    """Run ``client`` against a server that treats each connection as ``chat`` says."""

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await chat(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def main() -> None:
        server = await asyncio.start_server(served, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with asyncio.timeout(20.0), server:
            options = {"timeout": None, **given}
            async with httpx.AsyncClient(transport=Wire(), base_url=url, **options) as http:  # type: ignore[arg-type]
                await client(http)
            await clock.sleep(0.0)

    clock.run_wall(main())


async def asked(reader: asyncio.StreamReader) -> bytes:
    """One request: its head and its body."""
    head = await reader.readuntil(b"\r\n\r\n")
    _, _, length = head.lower().partition(b"content-length:")
    return head + await reader.readexactly(int(length.split()[0]) if length else 0)


def saying(*answers: bytes) -> Chat:
    """Each request of a connection gets the next answer, then the connection ends."""

    async def chat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for answer in answers:
            await asked(reader)
            writer.write(answer)

    return chat


def test_requests_one_after_another_share_a_connection() -> None:
    connections: list[bytes] = []

    async def chat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(b"")
        while True:
            connections[-1] += await asked(reader)
            writer.write(HELLO)

    async def client(http: httpx.AsyncClient) -> None:
        for number in range(3):
            assert (await http.post("/say", params={"n": number}, json={"a": 1})).text == "hello"

    over(chat, client)
    assert len(connections) == 1
    assert connections[0].count(b'{"a":1}') == 3
    assert b"POST /say?n=2 HTTP/1.1\r\nHost: 127.0.0.1:" in connections[0]


def test_requests_at_once_have_a_connection_each() -> None:
    waiting: list[asyncio.StreamWriter] = []

    async def chat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        waiting.append(writer)
        if len(waiting) == 40:
            for each in waiting:
                each.write(HELLO)
        await reader.read()

    async def client(http: httpx.AsyncClient) -> None:
        said = await asyncio.gather(*(http.get("/") for _ in range(40)))
        assert {each.text for each in said} == {"hello"}

    over(chat, client)


def test_parts_are_read_when_they_come_and_say_when_that_was() -> None:
    async def chat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        writer.write(CHUNKS)
        for word in (b"one", b"two"):
            writer.write(b"3\r\n" + word + b"\r\n")
            await clock.sleep(0.02)
        writer.write(b"0\r\n\r\n")

    async def client(http: httpx.AsyncClient) -> None:
        parts: list[tuple[bytes, float]] = []
        async with http.stream("GET", "/") as response:
            async for part in response.aiter_bytes():
                held = clock.wall_s()
                while clock.wall_s() - held < 0.05:
                    pass  # a reader that is slow does not make what it reads late
                parts.append((part, response.extensions["arrived"]()))
        (one, one_s), (two, two_s) = parts
        assert (one, two) == (b"one", b"two")
        assert one_s < two_s <= clock.now() - 0.05

    over(chat, client)


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        (b"", httpx.RemoteProtocolError, "disconnected"),
        (b"HTTP/1.1 200 OK\r\nconte", httpx.RemoteProtocolError, "disconnected"),
        (b"hello\r\n\r\n", httpx.RemoteProtocolError, "not an answer"),
        (HELLO[:-2], httpx.RemoteProtocolError, "closed connection"),
        (CHUNKS + b"3\r\non", httpx.RemoteProtocolError, "closed connection"),
        (CHUNKS + b"3\r\none\r\n", httpx.RemoteProtocolError, "closed connection"),
        (CHUNKS + b"zz\r\none\r\n", httpx.RemoteProtocolError, "not a chunk's size"),
    ],
)
def test_half_an_answer_is_none(answer: bytes, error: type[Exception], said: str) -> None:
    async def client(http: httpx.AsyncClient) -> None:
        with pytest.raises(error, match=said):
            await http.post("/", json={})

    over(saying(answer), client)


def test_what_came_before_the_cut_is_kept() -> None:
    async def client(http: httpx.AsyncClient) -> None:
        parts: list[bytes] = []
        with pytest.raises(httpx.RemoteProtocolError):
            async with http.stream("GET", "/") as response:
                async for part in response.aiter_bytes():
                    parts.append(part)
        assert b"".join(parts) == b"one"

    over(saying(CHUNKS + b"3\r\none\r\n"), client)


def test_a_connection_that_is_torn_down_is_a_read_error() -> None:
    async def chat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(1)
        writer.transport.abort()  # with a request unread: a reset

    async def client(http: httpx.AsyncClient) -> None:
        with pytest.raises((httpx.ReadError, httpx.RemoteProtocolError)):
            await http.post("/", content=b"x" * 1_000_000)

    over(chat, client)


def test_a_body_may_end_with_its_connection_which_is_not_asked_again() -> None:
    async def client(http: httpx.AsyncClient) -> None:
        for _ in range(2):
            assert (await http.get("/")).text == "until the end"

    over(saying(b"HTTP/1.1 200 OK\r\n\r\nuntil the end"), client)


def test_a_connection_that_the_server_closed_meanwhile_is_not_asked_again() -> None:
    async def client(http: httpx.AsyncClient) -> None:
        for _ in range(3):
            assert (await http.get("/")).text == "hello"
            await clock.sleep(0.05)

    over(saying(HELLO), client)


def test_a_reader_that_leaves_closes_its_connection() -> None:
    left = asyncio.Event()

    async def chat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        writer.write(CHUNKS + b"3\r\none\r\n")
        try:
            await reader.read()
        finally:
            left.set()

    async def client(http: httpx.AsyncClient) -> None:
        async with http.stream("GET", "/") as response:
            assert await anext(response.aiter_bytes()) == b"one"
        await left.wait()

    over(chat, client)


def test_a_server_that_says_nothing_for_too_long_is_a_read_timeout() -> None:
    async def chat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async def client(http: httpx.AsyncClient) -> None:
        with pytest.raises(httpx.ReadTimeout):
            await http.get("/")

    over(chat, client, timeout=httpx.Timeout(None, read=0.05))


def test_nobody_listening_is_a_connect_error_of_a_refusal() -> None:
    async def main() -> None:
        async with httpx.AsyncClient(transport=Wire()) as http:
            with pytest.raises(httpx.ConnectError) as caught:
                await http.get("http://127.0.0.1:9")
        assert isinstance(caught.value.__cause__, ConnectionRefusedError)

    clock.run_wall(main())


def test_another_protocol_is_not_spoken() -> None:
    async def main() -> None:
        async with httpx.AsyncClient(transport=Wire()) as http:
            with pytest.raises(httpx.UnsupportedProtocol):
                await http.get("ftp://127.0.0.1:9")

    clock.run_wall(main())
