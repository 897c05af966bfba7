"""When a prefix is copied to the host. One rule: a copy is made on use or on eviction, not both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Name = Literal["write_through", "write_through_selective", "write_back"]


@dataclass(frozen=True)
class WritePolicy:
    """``threshold`` uses make a copy; with ``on_eviction`` a page is copied when it must leave.

    A copy made on use hangs together: what has one, has it for its whole prefix (``closed``).
    """

    name: Name
    threshold: int
    on_eviction: bool = False

    @property
    def closed(self) -> bool:
        """Whether a node's copy is kept no longer than those of the nodes above it."""
        return not self.on_eviction

    @classmethod
    def of(cls, name: Name) -> WritePolicy:
        """SGLang's thresholds: a new prefix is its first use, each admission over it one more."""
        return {
            "write_through": cls(name, 1),
            "write_through_selective": cls(name, 2),
            "write_back": cls(name, 0, on_eviction=True),
        }[name]
