"""What an engine does beside stepping: how requests reach its scheduler, and what it awaits.

One rule: ranks that must agree change a scheduler's books in ``agree`` alone, between two steps.
An engine alone has nobody to agree with: it adds and aborts at once, in the middle of a step too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from engine.sched.transfers import NoTransfers

if TYPE_CHECKING:
    from engine.engine import Engine
    from engine.request import Request
    from engine.sched.batch import Batch
    from engine.sched.staging import Staging
    from engine.sched.transfers import Transfers
    from engine.shadow.memory import Common


class News(NamedTuple):
    """A request whose reader must be told: of tokens, of its end, or of ``error``."""

    req: Request
    error: Exception | None = None


class Role(Protocol):
    """One engine's part. ``transfers`` and ``staging`` are handed to its scheduler.

    ``name`` is that of its side of a pair, ``rank`` its number there; an engine alone has none.
    ``common`` is what the shadows of a pair share; an engine alone makes its own.
    """

    @property
    def name(self) -> str: ...
    @property
    def rank(self) -> int: ...
    @property
    def common(self) -> Common | None: ...
    @property
    def transfers(self) -> Transfers: ...
    @property
    def staging(self) -> Staging | None: ...

    def attach(self, engine: Engine) -> None:
        """The engine is built; nothing runs yet."""

    def add(self, req: Request) -> None:
        """A request has arrived. Raises ``RequestRefused`` for what can never be served."""

    def abort(self, req: Request) -> None:
        """A request that has not ended is to end."""

    async def agree(self) -> list[News]:
        """Bring the books up to date before a step, in step with the other ranks."""

    async def forward(self, batch: Batch) -> None:
        """Meet the other ranks in a step's work."""

    def wait_s(self) -> float | None:
        """Seconds until a deadline must be looked at; None where there is none."""

    def called(self) -> bool:
        """Whether another rank waits for this one to agree."""

    def stepped(self) -> None:
        """A step has run."""


class Alone:
    """The role of an engine that prefills and decodes by itself, on one rank."""

    name, rank = "", 0
    common: Common | None = None
    staging: Staging | None = None

    def __init__(self) -> None:
        self.transfers: Transfers = NoTransfers()

    def attach(self, engine: Engine) -> None:
        self._engine = engine

    def add(self, req: Request) -> None:
        self._engine.scheduler.add(req)

    def abort(self, req: Request) -> None:
        self._engine.scheduler.abort(req)
        self._engine.tell(req)

    async def agree(self) -> list[News]:
        return []

    async def forward(self, batch: Batch) -> None:
        return

    def wait_s(self) -> float | None:
        return None

    def called(self) -> bool:
        return False

    def stepped(self) -> None:
        return
