"""What is kept of every room for those who look at a run later. One rule: observed, not judged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Stage = Literal["post_store", "post_transfer"]


class RoomDigest(NamedTuple):
    """One page row of one layer of one pool, digested on one side (int64, `kernels.page_digest`).

    ``position`` is the page's place in its request: it holds tokens [256 p, 256 (p + 1)). For
    ``c128_state`` it is 0 and ``page`` the request slot. Ranks share a room's number, so ``rank``
    says whose pages these are.
    """

    room: int
    stage: Stage
    pool: str
    layer: int
    position: int
    page: int
    digest: int
    rank: int = 0


@dataclass
class RoomRecord:
    """One room from its opening to its end. Times are seconds of the engine's clock.

    ``request`` is the decode side's number, ``prefill`` and ``decode`` say when each side entered
    each state (by SGLang's name), ``moved_bytes`` counts bytes really moved by pool,
    ``flash_bytes`` what they stand for in a 43-layer model.
    """

    room: int
    request: int
    rank: int
    prompt: int
    prefill: dict[str, float] = field(default_factory=dict)
    decode: dict[str, float] = field(default_factory=dict)
    chunks: int = 0
    moved_bytes: dict[str, int] = field(default_factory=dict)
    flash_bytes: int = 0
    outcome: str = "open"  # open | Success | Failed
    why: str = ""
    released_s: float | None = None  # when the decode pages of a failed room were given back
    drained_s: float | None = None  # when the last write of it landed

    def count(self, nbytes: dict[str, int], flash_bytes: float, chunk: bool) -> None:
        """A piece has arrived: bytes by pool, and whether it was a chunk's."""
        for pool, n in nbytes.items():
            self.moved_bytes[pool] = self.moved_bytes.get(pool, 0) + n
        self.flash_bytes += round(flash_bytes)
        self.chunks += chunk
