"""What the two-tier cache asks and could be told wrongly: its seams, with the healthy answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.cache.prefix import Node
    from engine.cache.tiers import HostPage
    from engine.pools.allocator import PageAllocator


class BackupStart(Protocol):
    """When may a backup read its pages?"""

    def may_read(self, launched: int, finished: int) -> bool:
        """``launched`` steps had been when the backup was asked for, ``finished`` have run now."""


class AfterItsStep:
    """A backup reads when every step that may still write its pages has run."""

    def may_read(self, launched: int, finished: int) -> bool:
        return finished >= launched


class Room(NamedTuple):
    """Where a load may find device pages: ``take(n)`` gives free ones, by eviction if need be."""

    take: Callable[[int], list[int]]
    allocator: PageAllocator
    owner_of: Callable[[int], Node | None]


class LoadTarget(Protocol):
    """Into which device pages is a prefix restored?"""

    def pages(self, nodes: Sequence[Node], room: Room) -> list[int]:
        """One page for each that the evicted ``nodes`` have on the host, in order."""


class FreshPages:
    """A prefix is restored into pages that nobody else holds."""

    def pages(self, nodes: Sequence[Node], room: Room) -> list[int]:
        return room.take(sum(len(node.host) for node in nodes))


class HostReuse(Protocol):
    """When may the host pages of a node be given to another?"""

    def reusable(self, node: Node) -> bool:
        """Whether nothing reads ``node.host``."""


class AfterLoadAck:
    """Host pages are given on when the loads out of them were acknowledged."""

    def reusable(self, node: Node) -> bool:
        return node.host_pins == 0


class BackupRefusal(Protocol):
    """What becomes of a page that must leave the device and finds no room on the host?"""

    def host(self, node: Node) -> list[HostPage] | None:
        """The host pages that the evicted node is said to have; None where it is dropped."""


class DropsThePage:
    """A prefix that is on no tier is forgotten."""

    def host(self, node: Node) -> list[HostPage] | None:
        return None


@dataclass(frozen=True)
class CacheQuestions:
    """The two-tier cache's seams with their healthy defaults; a defect replaces one of them."""

    backup_start: BackupStart = field(default_factory=AfterItsStep)
    load_target: LoadTarget = field(default_factory=FreshPages)
    host_reuse: HostReuse = field(default_factory=AfterLoadAck)
    backup_refusal: BackupRefusal = field(default_factory=DropsThePage)
