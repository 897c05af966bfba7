"""Our driver as a load generator: many sessions at once over sockets, from one process."""

from __future__ import annotations

import asyncio
from typing import Any

from engine import clock
from lab.bench_load.generator import generate, plans
from lab.bench_load.mock import Book, Connection, Pace, Script
from lab.driver import Load


def test_three_hundred_sessions_at_once_get_their_replies_over_connections_that_are_kept() -> None:
    pace, book, made = Pace(ttft_s=0.001, itl_s=0.001, tokens=3), Book(), []

    def connection() -> Connection:
        made.append(Connection(pace, Script(pace.tokens), book))
        return made[-1]

    async def main() -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(connection, "127.0.0.1", 0, backlog=1024)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        load = Load(concurrency=300, model="mock", extra={})
        async with server:
            return await generate(url, load, plans(700, 0.0))

    said = clock.run_wall(main())
    assert (said["replies"], said["failed"]) == (700, [])
    assert (book.truth().replies, book.tokens) == (700, 2100)
    assert len(made) <= 300
