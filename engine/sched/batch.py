"""What one step runs: chunks of prompts, or one token of every running row.

One rule: a batch is complete when it is made. Its rows, their order and their lengths are those of
the schedule, whatever happens to the requests while the step runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from engine.request import Request


class Chunk(NamedTuple):
    """Positions [start, end) of a request's tokens; both page multiples, but for a ``last`` end."""

    req: Request
    start: int
    end: int
    last: bool  # the prompt ends here: the step samples a token


@dataclass(frozen=True)
class PrefillBatch:
    """Chunks to compute, in order. One token is sampled for each ``last`` chunk.

    ``load`` is the producer whose copies from the host the step waits for layer by layer, -1 for
    none (SGLang's ``hicache_consumer_index``); ``restored`` are the device pages that they fill.
    """

    chunks: list[Chunk]
    load: int = -1
    restored: tuple[int, ...] = ()
    requests: list[Request] = field(init=False)
    sampled: list[Request] = field(init=False)  # who gets a token, in the order of the tokens

    def __post_init__(self) -> None:
        object.__setattr__(self, "requests", [chunk.req for chunk in self.chunks])
        object.__setattr__(self, "sampled", [chunk.req for chunk in self.chunks if chunk.last])

    @property
    def tokens(self) -> int:
        """Tokens that the step computes."""
        return sum(chunk.end - chunk.start for chunk in self.chunks)


@dataclass(frozen=True)
class DecodeBatch:
    """One token for every row. ``seq_lens[i]`` counts this step's token: its position is one less.

    Under overlap that token may still be in flight: then ``seq_lens[i] > reqs[i].n_tokens``.
    ``load`` and ``restored`` are as in a prefill: a step waits for whatever is loaded with it.
    """

    reqs: list[Request]
    seq_lens: list[int]
    load: int = -1
    restored: tuple[int, ...] = ()

    @property
    def requests(self) -> list[Request]:
        """Everyone that the step touches."""
        return self.reqs

    @property
    def tokens(self) -> int:
        """Tokens that the step computes: one a row."""
        return len(self.reqs)

    @property
    def sampled(self) -> list[Request]:
        """Who gets a token, in the order of the tokens."""
        return self.reqs


Batch = PrefillBatch | DecodeBatch
