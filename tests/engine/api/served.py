"""The application under uvicorn on loopback, in a thread of the test with a loop of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import uvicorn

if TYPE_CHECKING:
    from starlette.types import ASGIApp

Start = Callable[[], Awaitable["ASGIApp"]]


@contextmanager
def served(start: Start) -> Iterator[str]:
    """Await ``start`` on the server's loop, serve what it returns, and yield the base URL."""
    servers: list[uvicorn.Server] = []
    bound = threading.Event()

    async def serve() -> None:
        app = await start()
        config = uvicorn.Config(app, port=0, lifespan="off", ws="none", log_level="error")
        server = uvicorn.Server(config)
        servers.append(server)
        running = asyncio.ensure_future(server.serve())
        while not server.started and not running.done():
            await asyncio.sleep(0.005)
        bound.set()
        await running

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert bound.wait(20), "the server did not start"
    try:
        port = servers[0].servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        servers[0].should_exit = True
        thread.join(20)
        assert not thread.is_alive()
