"""What the scheduler asks and could be told wrongly: its seams, each with its healthy answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from engine.cache.prefix import Match, PrefixCache

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

    def owner(self, batch: Batch, row: int, running: Sequence[Request]) -> Request | None:
        """The request that gets ``batch``'s token number ``row``, None for nobody; ``running`` are
        the rows now.
        """


class AsScheduled:
    """A token belongs to the request that was the row when the step was scheduled."""

    def owner(self, batch: Batch, row: int, running: Sequence[Request]) -> Request | None:
        return batch.sampled[row]


Fill = Callable[[Match], "tuple[Match, list[int]] | None"]


class PrefixPin(Protocol):
    """When is a matched prefix safe from eviction?"""

    def hold(self, cache: PrefixCache, match: Match, fill: Fill) -> tuple[Match, list[int]] | None:
        """Pin the matched prefix and get the pages beside it by ``fill``, which may evict.

        Answers what ``fill`` did: the match, longer where the host tier gave more, and the new
        pages; None, and nothing is pinned, where it got none.
        """


class PinnedFirst:
    """A prefix is pinned before anything is evicted for the pages beside it."""

    def hold(self, cache: PrefixCache, match: Match, fill: Fill) -> tuple[Match, list[int]] | None:
        cache.pin(match.node)
        got = fill(match)
        if got is None:
            cache.unpin(match.node)
        elif got[0].node is not match.node:
            cache.pin(got[0].node)
            cache.unpin(match.node)
        return got


@dataclass(frozen=True)
class Questions:
    """The scheduler's seams with their healthy defaults; a defect replaces one of them."""

    publication: PrefixPublication = field(default_factory=OnceWritten)
    reuse: PageReuse = field(default_factory=AfterLastStep)
    rows: RowOwner = field(default_factory=AsScheduled)
    pin: PrefixPin = field(default_factory=PinnedFirst)
