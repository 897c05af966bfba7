"""Every question that healthy code asks, with its healthy answer: all that a build can break.

A seam is a one-method Protocol beside its healthy class. A defect (``engine/defects``) subclasses
the healthy class, overrides the method, and takes its place in ``Seams``; nothing else in the
engine knows that defects exist.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from engine.cache.questions import (
    AfterItsStep,
    AfterLoadAck,
    BackupRefusal,
    BackupStart,
    DropsThePage,
    FreshPages,
    HostReuse,
    LoadTarget,
)
from engine.disagg.questions import (
    AlwaysEnters,
    AnyTag,
    BootstrapMessage,
    ByRoomTag,
    ClearsTheSlot,
    ComparesLayouts,
    DrainsFirst,
    MetadataCheck,
    MetadataTake,
    PeerLayout,
    PollAgreement,
    ReceiverPoll,
    RevokesTheRoom,
    RoomFence,
)
from engine.pools.device import PoolBuffer, SizedByLayout
from engine.pools.host_layout import HostLayout, LikeDevice
from engine.pools.token_transfer import ByLayout, TokenTransfer
from engine.pools.transfer_pieces import TransferPieces, WholePages
from engine.runner.dead_rows import DeadRows, ToReservedSlot
from engine.runner.gate import EveryRead, ReadGate
from engine.runner.index_store import GuardedStore, IndexKStore
from engine.runner.logits_rows import InInt64, LogitsOffset
from engine.sched.questions import (
    AfterLastStep,
    AsScheduled,
    OnceWritten,
    PageReuse,
    PinnedFirst,
    PrefixPin,
    PrefixPublication,
    RowOwner,
)
from engine.scribe.combiner import ByLse, PrefillCombiner


@dataclass(frozen=True)
class Seams:
    """One class for each question."""

    index_k_buffer: type[PoolBuffer] = SizedByLayout
    index_k_store: type[IndexKStore] = GuardedStore
    dead_rows: type[DeadRows] = ToReservedSlot
    logits_offset: type[LogitsOffset] = InInt64
    prefill_combiner: type[PrefillCombiner] = ByLse
    prefix_publication: type[PrefixPublication] = OnceWritten
    page_reuse: type[PageReuse] = AfterLastStep
    row_owner: type[RowOwner] = AsScheduled
    prefix_pin: type[PrefixPin] = PinnedFirst
    read_gate: type[ReadGate] = EveryRead
    token_transfer: type[TokenTransfer] = ByLayout
    host_layout: type[HostLayout] = LikeDevice
    transfer_pieces: type[TransferPieces] = WholePages
    backup_start: type[BackupStart] = AfterItsStep
    load_target: type[LoadTarget] = FreshPages
    host_reuse: type[HostReuse] = AfterLoadAck
    backup_refusal: type[BackupRefusal] = DropsThePage
    peer_layout: type[PeerLayout] = ComparesLayouts
    bootstrap_message: type[BootstrapMessage] = AnyTag
    receiver_poll: type[ReceiverPoll] = DrainsFirst
    room_fence: type[RoomFence] = RevokesTheRoom
    metadata_take: type[MetadataTake] = ClearsTheSlot
    metadata_check: type[MetadataCheck] = ByRoomTag
    poll_agreement: type[PollAgreement] = AlwaysEnters


SEAMS = tuple(field.name for field in fields(Seams))
