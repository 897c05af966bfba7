"""What a wire is asked: memory registered on both sides, writes of items from one to the other.

One rule: a write moves its bytes at one moment, when its time has come, or never. Between the post
and that moment both sides' memory may change: whoever gives pages to somebody else meanwhile hands
them a stranger's bytes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from torch import Tensor

Side = Literal["prefill", "decode"]


@dataclass(frozen=True, eq=False)
class Region:
    """Registered memory of one layer of one pool: item i is bytes [i * item_len, + item_len).

    ``memory`` is uint8 [bytes], contiguous, a view of the pool's own bytes.
    """

    pool: str
    layer: int
    memory: Tensor
    item_len: int


@dataclass(frozen=True)
class Write:
    """Items ``src`` of the prefill's region number ``region`` to items ``dst`` of the decode's.

    Item i of the source lies at ``src[i] * src_len``, its destination at ``dst[i] * dst_len``;
    ``src_len`` bytes of each are moved.
    """

    region: int
    src: tuple[int, ...]
    dst: tuple[int, ...]
    src_len: int
    dst_len: int


class PostState(Enum):
    """What a wire knows of a post."""

    PROC = "PROC"
    DONE = "DONE"
    ERR = "ERR"  # refused: outside registered memory
    CANCELLED = "CANCELLED"


@dataclass(eq=False)
class Posted:
    """One post. ``due_s`` is when its bytes are there; ``ended`` is set by its end of any kind."""

    room: int
    writes: tuple[Write, ...]
    note: str
    due_s: float
    state: PostState = PostState.PROC
    why: str = ""  # of ERR, one line
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class PostWatch(Protocol):
    """Who hears of a wire's posts."""

    def posted(self, post: Posted) -> None:
        """A write is under way from now on."""

    def landed(self, post: Posted) -> None:
        """Its bytes are there, and its note."""

    def torn(self, post: Posted, moved: Sequence[Write], torn: Sequence[Write]) -> None:
        """It failed on its way: some items have moved, of some nobody knows."""

    def ended(self, post: Posted) -> None:
        """It will do nothing any more; posts that were refused end as well."""

    def revoked(self, room: int) -> None:
        """Nothing of a room is posted any more: whoever asked for that knows it."""


class NoPostWatch:
    """Nobody looks."""

    def posted(self, post: Posted) -> None:
        return

    def landed(self, post: Posted) -> None:
        return

    def torn(self, post: Posted, moved: Sequence[Write], torn: Sequence[Write]) -> None:
        return

    def ended(self, post: Posted) -> None:
        return

    def revoked(self, room: int) -> None:
        return


class Wire(Protocol):
    """Moves bytes one way, prefill to decode, between registered regions of two sides.

    ``watch`` hears of its posts, and nothing asks it anything.
    """

    watch: PostWatch

    def register(self, side: Side, regions: Sequence[Region]) -> None:
        """Make a side's regions known; lists of both sides are parallel."""

    def post(self, room: int, writes: Sequence[Write], note: str, seconds: float) -> Posted:
        """Start a WRITE that takes ``seconds`` of the clock; ``note`` arrives with its bytes.

        A post of a revoked room is CANCELLED at once.
        """

    def poll(self, posted: Posted) -> PostState:
        """Where a post stands; whatever is due has moved its bytes when this returns."""

    def cancel(self, posted: Posted) -> None:
        """Take a post back: none of its bytes arrive any more. One that ended stays as is."""

    def revoke(self, room: int) -> None:
        """The reader's fence: cancel the room's posts and refuse its further ones (a memory window
        whose key is invalidated)."""

    def notes(self) -> list[str]:
        """The notes that arrived on the decode side since the last call, in order of arrival."""

    def close(self) -> None:
        """Give back what was registered; idempotent."""
