"""What the scheduler asks and could be told wrongly: its seams, each with its healthy answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.request import Request
    from engine.sched.batch import Batch, Chunk


class PrefixPublication(Protocol):
    """When may other requests read a prefix?"""

    def before_run(self, chunk: Chunk) -> int:
        """Leading tokens of the request to publish when the chunk is scheduled, before it ran."""


class OnceWritten:
    """A prefix is published after the step that wrote it: a match is always readable."""

    def before_run(self, chunk: Chunk) -> int:
        return 0


class PageReuse(Protocol):
    """When may the pages of an ended request have a new owner?"""

    def releasable(self, req: Request) -> bool:
        """Whether an ended request's pages and slot may be released now."""


class AfterLastStep:
    """Pages are released when no step that reads or writes them is in flight."""

    def releasable(self, req: Request) -> bool:
        return req.inflight == 0


class RowOwner(Protocol):
    """Whose is the token that a row sampled?"""

    def owner(self, batch: Batch, row: int, running: Sequence[Request]) -> Request:
        """The request that gets ``batch``'s token number ``row``; ``running`` are the rows now."""


class AsScheduled:
    """A token belongs to the request that was the row when the step was scheduled."""

    def owner(self, batch: Batch, row: int, running: Sequence[Request]) -> Request:
        return batch.sampled[row]


@dataclass(frozen=True)
class Questions:
    """The scheduler's seams with their healthy defaults; a defect replaces one of them."""

    publication: PrefixPublication = field(default_factory=OnceWritten)
    reuse: PageReuse = field(default_factory=AfterLastStep)
    rows: RowOwner = field(default_factory=AsScheduled)
