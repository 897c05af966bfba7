"""Rooms: one hand-over of a request's KV each, as both sides see it.

One rule: ``move`` is the only way to a new state; Failed and Success are for ever. The states and
their numbers are SGLang's ``KVPoll``: ranks agree on a room by the least of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

from engine.errors import IllegalMove

if TYPE_CHECKING:
    from engine.events import EventLog
    from engine.request import Request


class KVPoll(IntEnum):
    """Where a room stands with one side."""

    FAILED = 0
    BOOTSTRAPPING = 1  # decode: waits for pages; prefill: waits to be told of them
    WAITING_FOR_INPUT = 2  # decode: told the prefill its pages; prefill: was told, computes
    TRANSFERRING = 3  # prefill only: its first chunk was queued
    SUCCESS = 4

    @property
    def title(self) -> str:
        """The state as SGLang logs it: ``WaitingForInput``."""
        return self.name.title().replace("_", "")


class Cause(IntEnum):
    """Why a room fails. Ranks agree on the least of theirs: what names one fault goes before what
    says that another side or rank saw one.
    """

    ABORTED = 0
    FOREIGN = 1  # decode: its metadata slot holds another room's
    REFUSED = 2  # prefill: the wire took a write to be wrong
    UNTOLD = 3  # prefill: nobody named its pages in time
    LATE = 4  # decode: its bytes did not come in time
    LOST = 5  # decode: there is no other side any more
    PEER = 6  # the other side gave it up, for a reason of its own
    NONE = 7

    @property
    def words(self) -> str:
        """What is told where nobody knows more."""
        return WORDS[self]


WORDS = {
    Cause.ABORTED: "aborted by the client",
    Cause.FOREIGN: "metadata corruption detected",
    Cause.REFUSED: "the wire refused a write",
    Cause.UNTOLD: "timed out in Bootstrapping",
    Cause.LATE: "timed out in WaitingForInput",
    Cause.LOST: "the prefill side is dead",
    Cause.PEER: "the other side gave the room up",
    Cause.NONE: "",
}


LEGAL: dict[KVPoll, frozenset[KVPoll]] = {
    KVPoll.BOOTSTRAPPING: frozenset({KVPoll.WAITING_FOR_INPUT, KVPoll.FAILED}),
    KVPoll.WAITING_FOR_INPUT: frozenset({KVPoll.TRANSFERRING, KVPoll.SUCCESS, KVPoll.FAILED}),
    KVPoll.TRANSFERRING: frozenset({KVPoll.SUCCESS, KVPoll.FAILED}),
    KVPoll.SUCCESS: frozenset(),
    KVPoll.FAILED: frozenset(),
}


@dataclass(eq=False)
class Room:
    """One side's view of a room. Times are seconds of the engine's clock.

    ``entered`` says when each state was entered; ``why`` what a failed room failed of.
    """

    id: int
    req: Request
    state: KVPoll = KVPoll.BOOTSTRAPPING
    entered: dict[KVPoll, float] = field(default_factory=dict)
    why: str = ""

    @property
    def since(self) -> float:
        """When the present state was entered."""
        return self.entered[self.state]

    @property
    def ended(self) -> bool:
        """Whether nothing can happen to the room any more."""
        return not LEGAL[self.state]

    def open(self, at: float) -> None:
        """Stamp the first state."""
        self.entered[self.state] = at

    def move(self, to: KVPoll, at: float, events: EventLog) -> None:
        """Take a new state, stamped and told; raises ``IllegalMove``."""
        if to not in LEGAL[self.state]:
            raise IllegalMove(f"room {self.id}: {self.state.title} -> {to.title}")
        self.state = to
        self.entered[to] = at
        events.emit("room", room=self.id, to=to.title)

    def fail(self, why: str, at: float, events: EventLog) -> bool:
        """Fail, unless the room has ended: a late failure of a finished room counts for nothing."""
        if self.ended:
            return False
        self.why = why
        self.move(KVPoll.FAILED, at, events)
        return True
