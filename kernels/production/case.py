"""One kernel at one size: how its inputs are made, who computes it, and what it cannot be under.

Rule: a case says what work there is, never how long it takes. Bytes are counted once: each input
that must be read, each output that must be written.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Call = Callable[[Any], object]


@dataclass(frozen=True)
class Peer:
    """What somebody else's kernel took for the same work, measured on an H200 apart from us."""

    name: str
    ms: float


@dataclass(frozen=True)
class Goal:
    """The most that a case may take: `times` what `of` takes."""

    times: float
    of: Literal["floor", "torch", "peer", "link"]


@dataclass(frozen=True)
class Case:
    """A kernel at a size.

    `make(seed)` gives fresh inputs on the device; `ours`, `plain` (torch) and each of `candidates`
    (other choices of block sizes, by name) take them. `alone` is ours whose launches wait for each
    other, where those of `ours` overlap. `base` is what all are compared with, untimed: else it is
    `plain`. `link` says which memory bounds it: the device's own or the one to pinned host memory.
    `flops` counts matrix operations in `matrix` precision.
    """

    kernel: str
    size: str
    make: Callable[[int], Any]
    ours: Call
    plain: Call | None
    moved_bytes: int
    flops: int = 0
    matrix: Literal["bf16", "fp8"] = "bf16"
    link: Literal["hbm", "h2d", "d2h"] = "hbm"
    compiles: bool = True
    peer: Peer | None = None
    goal: Goal | None = None
    candidates: Mapping[str, Call] = field(default_factory=dict)
    alone: Call | None = None
    base: Call | None = None
    # bytes that one set of inputs occupies: how many sets it takes to be out of the cache
    resident_bytes: int = 0

    @property
    def name(self) -> str:
        """Kernel and size."""
        return f"{self.kernel}, {self.size}"


class Cases(Protocol):
    """The cases of one kernel, the same ones in miniature where `small`: for tests."""

    def __call__(self, device: str, small: bool = False) -> Iterator[Case]: ...
