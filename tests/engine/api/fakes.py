"""An engine that says canned ids, and the HTTP client of the in-process tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx

from engine.api import create_app
from engine.config import EngineConfig
from engine.text.tokenizer import EOS, encode

if TYPE_CHECKING:
    from engine.errors import EngineError


@dataclass
class FakeHandle:
    """Says ``ids``, ``group`` at a time, one group every ``pace_s``; waits for ever if asked to."""

    request_id: int
    ids: list[int]
    group: int = 1
    pace_s: float = 0.0
    hangs: bool = False
    fails: Exception | None = None
    ends: str | None = None
    cached_tokens: int = 0
    finish_reason: str | None = None
    aborts: int = 0

    async def __aiter__(self) -> AsyncIterator[list[int]]:
        for start in range(0, len(self.ids), self.group):
            await asyncio.sleep(self.pace_s)
            yield self.ids[start : start + self.group]
        if self.fails is not None:
            raise self.fails
        if self.hangs:
            await asyncio.Event().wait()
        stopped = self.ids[-1:] == [EOS]
        self.finish_reason = self.ends or ("stop" if stopped else "length")

    def abort(self) -> None:
        assert self.finish_reason is None, "a finished generation was aborted"
        self.finish_reason, self.aborts = "abort", self.aborts + 1


@dataclass
class FakeEngine:
    """Answers with ``replies`` in turn, each a text to be ended by EOS or exact ids."""

    replies: list[str | list[int]] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    config: EngineConfig = field(default_factory=EngineConfig)
    submitted: list[tuple[list[int], int, tuple[str, ...]]] = field(default_factory=list)
    handles: list[FakeHandle] = field(default_factory=list)
    refuses: EngineError | None = None
    died: Exception | None = None
    aborted: list[int | str] = field(default_factory=list)

    def abort(self, request_id: int) -> bool:
        self.aborted.append(request_id)
        return request_id <= len(self.handles)

    def abort_all(self) -> None:
        self.aborted.append("all")

    def flush(self) -> bool:
        return all(handle.finish_reason for handle in self.handles)

    def submit(self, prompt: list[int], max_tokens: int, stop: Sequence[str]) -> FakeHandle:
        if self.refuses is not None:
            raise self.refuses
        reply = self.replies[len(self.submitted)]
        self.submitted.append((prompt, max_tokens, tuple(stop)))
        ids = [*encode(reply), EOS] if isinstance(reply, str) else list(reply)
        handle = FakeHandle(len(self.submitted), ids[:max_tokens], **self.options)
        self.handles.append(handle)
        return handle

    def info(self) -> dict[str, Any]:
        return self.config.as_dict()


def client(engine: FakeEngine) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(create_app(engine))
    return httpx.AsyncClient(transport=transport, base_url="http://kvlab")
