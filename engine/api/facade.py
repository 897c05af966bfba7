"""What the application asks of an engine: the whole of it, so that a test can stand in for one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from engine.config import EngineConfig


class Handle(Protocol):
    """One running generation: iterate it for its new token ids, a few at a time.

    ``finish_reason`` is None until the end, then "stop", "length" or "abort"; ``abort`` frees what
    the request holds. A generation that fails raises in its reader, and is over by that.
    ``cached_tokens`` counts prompt tokens served from the prefix cache.
    """

    @property
    def request_id(self) -> int: ...
    @property
    def cached_tokens(self) -> int: ...
    @property
    def finish_reason(self) -> str | None: ...
    def __aiter__(self) -> AsyncIterator[list[int]]: ...
    def abort(self) -> None: ...


class Engine(Protocol):
    """An engine that serves. ``submit`` raises RequestRefused for what can never be served.

    ``died`` is what ended the engine's loop, None while it can serve. ``abort`` is False where
    nobody is served under that number. ``flush`` forgets cached prefixes, where nobody is served.
    """

    @property
    def config(self) -> EngineConfig: ...
    @property
    def died(self) -> Exception | None: ...
    def submit(self, prompt: list[int], max_tokens: int, stop: Sequence[str]) -> Handle: ...
    def abort(self, request_id: int) -> bool: ...
    def abort_all(self) -> None: ...
    def flush(self) -> bool: ...
    def info(self) -> dict[str, Any]: ...


def release(handle: Handle) -> None:
    """Abort a generation that nobody will read any further; nothing happens to a finished one."""
    if handle.finish_reason is None:
        handle.abort()
