"""Who has heard of whose work: vector clocks over the streams of one engine, or of a pair.

One rule: an edge is drawn where something really waits; what merely happened earlier in virtual
time has no edge. (Lamport 1978; Mattern 1988; epochs as in FastTrack, Flanagan and Freund 2009.)

Streams are ``host`` (the scheduler, which launches, hears of ends and frees), ``compute``,
``backup``, ``load``, and one for each transfer queue; of a pair, each side and rank has its own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Clock = NDArray[np.int64]  # one epoch a stream: the last of it that is known to be over


class VectorClocks:
    """The clocks of all streams, which are numbered from 0 in the order of their first naming."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._at: dict[str, int] = {}
        self._clock = np.zeros((0, 0), dtype=np.int64)

    def stream(self, name: str) -> int:
        """The number of a stream, which exists from now on."""
        if name not in self._at:
            self._at[name] = len(self.names)
            self.names.append(name)
            self._clock = np.pad(self._clock, ((0, 1), (0, 1)))
        return self._at[name]

    def tick(self, stream: int) -> int:
        """The stream begins its next operation: that one's epoch."""
        self._clock[stream, stream] += 1
        return int(self._clock[stream, stream])

    def now(self, stream: int) -> Clock:
        """All that a stream knows to be over by now: what it hands to whoever waits for it."""
        known: Clock = self._clock[stream].copy()
        return known

    def join(self, stream: int, known: Clock) -> None:
        """The stream has waited for somebody who knew ``known``."""
        own = self._clock[stream]
        np.maximum(own[: len(known)], known, out=own[: len(known)])

    def wait(self, stream: int, other: int) -> None:
        """The stream has waited for all that the other one has begun so far."""
        self.join(stream, self._clock[other])

    def knows(
        self, stream: int, other: NDArray[np.int64], epoch: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """bool: whether the stream has heard of epochs of the streams ``other``, of one shape."""
        heard: NDArray[np.bool_] = self._clock[stream][other] >= epoch
        return heard


def knew(known: Clock, other: NDArray[np.int64], epoch: NDArray[np.int64]) -> NDArray[np.bool_]:
    """bool: whether a clock, perhaps of fewer streams, has epochs of the streams ``other``."""
    at = np.minimum(other, len(known) - 1)
    heard: NDArray[np.bool_] = np.where(other < len(known), known[at], 0) >= epoch
    return heard
