"""The server: uvicorn over the engine's application, from its first request to its last.

One rule: it answers for as long as it runs. Of an engine that died, 500 and 503 tell; a request
under way when the server is stopped gets its end or an error.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import torch
import uvicorn

from engine.api import create_app
from engine.errors import ConfigError, EngineError
from engine.serving import open_engine
from lab.errors import TargetError, UserError
from lab.exposure import ALWAYS_SAID
from lab.interrupts import SIGNALS
from lab.serving.listening import url_of

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from types import FrameType

    from starlette.types import ASGIApp, Receive, Scope, Send

    from engine.config import EngineConfig
    from engine.disagg.pair import Pair
    from engine.engine import Engine

    Say = Callable[[str], None]

DRAIN_S = 5  # how long requests under way may take to their own end
CUT_S = 3 * DRAIN_S  # after which even those that hear nothing are cut
IDLE_S = 75  # a connection that waits so long for its next request is closed
TICKS = 10  # of uvicorn's main loop, a second


def serve(config: EngineConfig, taken: socket.socket, say: Say) -> int:
    """Serve the engine at a bound socket until a signal comes; ``say`` hears what happens.

    Returns 0 after SIGTERM, 130 after Ctrl-C. Raises `UserError` for a configuration that cannot
    work, `TargetError` where the engine does not start.
    """
    with _heard() as signals, taken:
        torch.set_num_threads(1)  # as everywhere: spinning threads lose beside any neighbour
        server = Server(_engine(config), say)
        server.signals = signals
        asyncio.run(server.serve([taken]))
    return 130 if signals and signals[0] == signal.SIGINT else 0


def _engine(config: EngineConfig) -> Engine | Pair:
    try:
        return open_engine(config)
    except ConfigError as error:
        raise UserError(str(error)) from None
    except (RuntimeError, MemoryError) as error:  # torch's word for no memory and no device
        raise TargetError(f"the engine did not start: {_line(error)}") from error


@contextmanager
def _heard() -> Iterator[list[int]]:
    """The signals that come meanwhile, in their order; they interrupt nothing."""
    signals: list[int] = []

    def hear(number: int, frame: FrameType | None) -> None:
        signals.append(number)

    before = {number: signal.signal(number, hear) for number in SIGNALS}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Server(uvicorn.Server):
    """Uvicorn, but stopped by ``signals`` that somebody else hears, and without a log of requests.

    A second signal cuts what still runs.
    """

    def __init__(self, engine: Engine | Pair, say: Say) -> None:
        self._engine, self._say = engine, say
        self._mourned = False
        self.signals: list[int] = []
        app = create_app(engine, counters=ALWAYS_SAID)
        super().__init__(
            uvicorn.Config(
                Answering(app, engine, say),
                lifespan="off",
                ws="none",
                http="h11",
                log_config=None,
                log_level="error",
                access_log=False,
                timeout_keep_alive=IDLE_S,
                timeout_graceful_shutdown=CUT_S,
            )
        )

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Uvicorn's own way raises each signal again, which would make an error of SIGTERM."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say where."""
        await super().startup(sockets)
        config = self._engine.config
        build = f", build {', '.join(config.build)}" if config.build else ""
        for taken in sockets or ():
            self._say(f"listening on {url_of(taken)} (model kvlab{build})")

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second: whether to stop. Nobody reads the history of a server."""
        if counter % TICKS == 0:
            self._engine.events.events.clear()
        if (died := self._engine.died) is not None and not self._mourned:
            self._mourned = True
            self._say(f"the engine died: {_line(died)}; requests are answered with 500")
        self.should_exit = self.should_exit or bool(self.signals)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more requests; those under way may end, and then are ended."""
        ending = asyncio.create_task(self._end())
        await super().shutdown(sockets)
        ending.cancel()
        with suppress(asyncio.CancelledError):
            await ending
        await self._engine.stop()
        self._say("stopped")

    async def _end(self) -> None:
        """Stop the engine once it was given time, or at the next signal."""
        for _ in range(DRAIN_S * TICKS):
            if len(self.signals) > 1:
                break
            await asyncio.sleep(1 / TICKS)
        await self._engine.stop()
        self.force_exit = len(self.signals) > 1


class Answering:
    """The application, whose faults were answered with 500; ``say`` hears those of an engine that
    lives, but for what is raised on purpose.
    """

    def __init__(self, app: ASGIApp, engine: Engine | Pair, say: Say) -> None:
        self._app, self._engine, self._say = app, engine, say

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except Exception as error:
            if self._engine.died is None and not isinstance(error, EngineError):
                self._say(f"a request failed: {_line(error)}")


def _line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split()).rstrip(":")
