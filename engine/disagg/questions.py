"""What the two sides ask and could be told wrongly: the seams of disaggregation."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from engine.disagg.rooms import KVPoll
from engine.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.disagg.mail import Message
    from engine.disagg.metadata import MetadataBuffers
    from engine.disagg.wire import Wire
    from kernels.layout import PageLayout


class Receiver(Protocol):
    """One room's receiver, as far as a poll needs it."""

    def drain(self) -> None:
        """Take the notes that have arrived into account."""

    @property
    def complete(self) -> bool:
        """Whether everything that was promised has arrived, as far as was drained."""

    @property
    def expired(self) -> bool:
        """Whether the room's deadline has passed."""


class ReceiverPoll(Protocol):
    """Seam ``receiver_poll``: how does a waiting room stand?"""

    def state(self, receiver: Receiver) -> KVPoll:
        """SUCCESS, FAILED (the deadline) or WAITING_FOR_INPUT."""


class DrainsFirst:
    """What has arrived is counted before the deadline is looked at (sglang#32267)."""

    def state(self, receiver: Receiver) -> KVPoll:
        receiver.drain()
        if receiver.complete:
            return KVPoll.SUCCESS
        return KVPoll.FAILED if receiver.expired else KVPoll.WAITING_FOR_INPUT


class RoomFence(Protocol):
    """Seam ``room_fence``: what becomes of a failed room's writes when its pages are given back
    before the writer has acknowledged?"""

    def close(self, wire: Wire, room: int) -> None:
        """Called before the pages of the room are free."""


class RevokesTheRoom:
    """The wire drops whatever the room has posted or may post."""

    def close(self, wire: Wire, room: int) -> None:
        wire.revoke(room)


class BootstrapMessage(Protocol):
    """Seam ``bootstrap_message``: what does the prefill's bootstrap loop make of a message?"""

    def read(self, message: Message) -> Message:
        """The message; whatever is raised ends the loop."""


class AnyTag:
    """Every message of the protocol is read, aborts among them."""

    def read(self, message: Message) -> Message:
        return message


class PollAgreement(Protocol):
    """Seam ``poll_agreement``: does a rank enter the collective over its polls?"""

    def enters(self, polls: Sequence[int], in_flight: int) -> bool:
        """``polls`` are this rank's own, ``in_flight`` the batches launched and not processed."""


class AlwaysEnters:
    """Every rank reduces first and branches on what all agreed on."""

    def enters(self, polls: Sequence[int], in_flight: int) -> bool:
        return True


class MetadataTake(Protocol):
    """Seam ``metadata_take``: how is a metadata slot left when a room takes it?"""

    def take(self, buffers: MetadataBuffers, slot: int) -> None:
        """Called before the slot's number goes to the prefill side."""


class ClearsTheSlot:
    """Nothing of the last room is left in it: an unwritten slot is seen to be unwritten."""

    def take(self, buffers: MetadataBuffers, slot: int) -> None:
        buffers.clear(slot)


class Arrival(Enum):
    """What a room finds in its metadata slot."""

    MINE = "mine"
    NOT_YET = "not yet"
    FOREIGN = "foreign"


class MetadataCheck(Protocol):
    """Seam ``metadata_check``: whose is what the slot holds?"""

    def arrival(self, tag: int, room: int) -> Arrival:
        """``tag`` is the room written in the slot, 0 for none."""


class ByRoomTag:
    """The slot says whose it is (sglang#17259)."""

    def arrival(self, tag: int, room: int) -> Arrival:
        if tag == room:
            return Arrival.MINE
        return Arrival.FOREIGN if tag else Arrival.NOT_YET


class PeerLayout(Protocol):
    """Seam ``peer_layout``: how far apart are the items of the peer's pools?"""

    def item_lens(
        self, own: Sequence[tuple[str, PageLayout]], peer: Sequence[tuple[str, PageLayout]]
    ) -> list[int]:
        """Bytes an item of each of the peer's pools, parallel to ``own``."""


class ComparesLayouts:
    """Both sides' layouts must be equal; raises ``ConfigError`` with both printed."""

    def item_lens(
        self, own: Sequence[tuple[str, PageLayout]], peer: Sequence[tuple[str, PageLayout]]
    ) -> list[int]:
        if [name for name, _ in own] != [name for name, _ in peer]:
            raise ConfigError(f"prefill has the pools {own}, decode {peer}", ("pd",))
        for (name, mine), (_, theirs) in zip(own, peer, strict=True):
            if mine != theirs:
                raise ConfigError(
                    f"{name}: prefill's pages are {mine.page_bytes:,} bytes ({_planes(mine)}), "
                    f"decode's {theirs.page_bytes:,} ({_planes(theirs)}); the pair refuses",
                    ("decode_index_k", "index_k"),
                )
        return [layout.page_bytes for _, layout in peer]


def _planes(layout: PageLayout) -> str:
    """``64 x 128 bfloat16``, plane by plane."""
    return ", ".join(
        f"{layout.page_tokens} x {p.per_token} {str(p.dtype).removeprefix('torch.')}"
        for p in layout.planes
    )


@dataclass(frozen=True)
class RoomQuestions:
    """The seams that the two roles ask, with their healthy defaults."""

    layout: PeerLayout = field(default_factory=ComparesLayouts)
    message: BootstrapMessage = field(default_factory=AnyTag)
    poll: ReceiverPoll = field(default_factory=DrainsFirst)
    fence: RoomFence = field(default_factory=RevokesTheRoom)
    take: MetadataTake = field(default_factory=ClearsTheSlot)
    check: MetadataCheck = field(default_factory=ByRoomTag)
    agreement: PollAgreement = field(default_factory=AlwaysEnters)
