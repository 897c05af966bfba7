"""Messages between the two sides of a pair: the control plane.

One rule: a message takes its latency, none is lost, and those of one mailbox stay in order.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from engine.disagg.rooms import Cause

if TYPE_CHECKING:
    from engine.shadow.clocks import Clock


class Tag(Enum):
    """What a message says. The first is the guard string that SGLang's NIXL messages begin with."""

    GUARD = "NixlMsgGuard"  # decode: here are a room's pages
    ABORT = "ABORT"  # decode: nobody waits for the room any more
    DRAINED = "DRAINED"  # prefill: no write of the room is left
    FAILED = "FAILED"  # prefill: the room failed here


@dataclass(frozen=True)
class TransferInfo:
    """Where a room's bytes go: the decode side's pages, metadata slot and request slot.

    ``takes`` are the generations of the pages, for the ledger; no address comes of them.
    """

    pages: tuple[int, ...]
    takes: tuple[int, ...]
    aux_index: int
    req_slot: int


@dataclass(frozen=True)
class Message:
    """One message about one room. ``info`` comes with GUARD, the others with ABORT and FAILED."""

    tag: Tag
    room: int
    info: TransferInfo | None = None
    why: str = ""
    cause: Cause = Cause.PEER


class Letter(NamedTuple):
    """A message on its way, and what its writer knew."""

    message: Message
    known: Clock | None


class Mailbox:
    """One way from one side to the other; ``latency_s`` is a message's time under way.

    ``wake`` is called at every delivery. ``sealed`` says what a message's writer knows, ``opened``
    what its reader knows from then on.
    """

    def __init__(self, latency_s: float) -> None:
        self.latency_s = latency_s
        self.wake: Callable[[], None] | None = None
        self.sealed: Callable[[], Clock | None] = lambda: None
        self.opened: Callable[[Clock | None], None] = lambda known: None
        self._under_way: deque[Letter] = deque()
        self._here: deque[Letter] = deque()
        self._news = asyncio.Event()

    def send(self, message: Message) -> None:
        """Post a message; it is there ``latency_s`` later on the loop's clock."""
        self._under_way.append(Letter(message, self.sealed()))
        asyncio.get_running_loop().call_later(self.latency_s, self._deliver)

    async def receive(self) -> Message:
        """The next message, once it is there. One reader at a time."""
        while not self._here:
            self._news.clear()
            await self._news.wait()
        return self._read(self._here.popleft())

    def take(self) -> list[Message]:
        """Whatever is there and was not received, without waiting."""
        letters = list(self._here)
        self._here.clear()
        return [self._read(letter) for letter in letters]

    def _read(self, letter: Letter) -> Message:
        self.opened(letter.known)
        return letter.message

    def _deliver(self) -> None:
        # timers of one moment fire in no order; messages leave in the order in which they came
        self._here.append(self._under_way.popleft())
        self._news.set()
        if self.wake is not None:
            self.wake()
