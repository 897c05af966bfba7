"""A request's life, from arrival to release. One rule: ``move`` is the only way to a new status."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from engine.config import PAGE_TOKENS
from engine.errors import IllegalMove


class Status(Enum):
    """Where a request stands with the scheduler."""

    WAITING = "waiting"  # in the queue, holds nothing
    RUNNING = "running"  # admitted: holds pages and a request slot
    FINISHED = "finished"
    ABORTED = "aborted"


LEGAL: dict[Status, frozenset[Status]] = {
    Status.WAITING: frozenset({Status.RUNNING, Status.ABORTED}),
    # back to WAITING is a retraction: the pool was full
    Status.RUNNING: frozenset({Status.WAITING, Status.FINISHED, Status.ABORTED}),
    Status.FINISHED: frozenset(),
    Status.ABORTED: frozenset(),
}


@dataclass(eq=False)
class Request:
    """One generation. Token counts; pages are page indices of 256 tokens.

    ``kv_len``    tokens whose KV is written or in flight: [0, kv_len)
    ``pages``     page i holds the KV of tokens [256 i, 256 (i + 1))
    ``takes``     the generation of each page when it was given to the request
    ``inflight``  steps launched with this request and not yet processed
    """

    id: int
    prompt: list[int]
    max_tokens: int
    stop: tuple[str, ...] = ()
    status: Status = Status.WAITING
    output: list[int] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)
    takes: list[int] = field(default_factory=list)
    kv_len: int = 0
    cached_tokens: int = 0
    host_tokens: int = 0  # of the prefix at the last admission, those that the host gave
    req_slot: int = 0
    finish_reason: str | None = None
    inflight: int = 0
    node: Any = None  # the radix node that this request pins
    sink: Any = None  # who is told of new tokens: `deliver(tokens)`, `close(reason)`

    @property
    def tokens(self) -> list[int]:
        """Prompt and output so far, in order."""
        return self.prompt + self.output

    @property
    def n_tokens(self) -> int:
        """Length of prompt and output so far."""
        return len(self.prompt) + len(self.output)

    @property
    def done(self) -> bool:
        """Whether the request has ended, well or not."""
        return self.status in (Status.FINISHED, Status.ABORTED)

    def slot(self, position: int) -> int:
        """The full-token slot (``out_cache_loc``) of a position."""
        return self.pages[position // PAGE_TOKENS] * PAGE_TOKENS + position % PAGE_TOKENS

    def move(self, to: Status) -> None:
        """Take a new status, or raise ``IllegalMove``."""
        if to not in LEGAL[self.status]:
            raise IllegalMove(f"request {self.id}: {self.status.value} -> {to.value}")
        self.status = to
