"""A step's way along the timeline: before a layer reads a pool, what was restored there has landed.

One rule: reads wait, stores do not (SGLang's ``wait_layer_transfer`` stands in every getter of the
pools and in no setter), so who may write a page is settled by its owner alone.

Two reads have no gate. A CUDA graph calls the getters while it is recorded and none when it is
replayed. The compressor states are plain attributes of the pools (SGLang's have getters). Both are
reads of decode, and a restore is over by then: the prefill step that was admitted on it passes
every layer (`end`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from engine.shadow.host_watch import HostWatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from engine.events import EventLog
    from engine.shadow.host_watch import PageCopy
    from engine.streams import Streams


class ReadGate(Protocol):
    """Seam ``read_gate``: which reads wait for a restore in flight?"""

    def waits(self, pool: str, layer: int) -> bool:
        """Whether the getter of ``pool`` waits at ``layer``."""


class EveryRead:
    """Every getter waits for its layer's copies."""

    def waits(self, pool: str, layer: int) -> bool:
        return True


class LayerDone(Protocol):
    """When the layers of a producer's copies arrive."""

    def wait_until(self, producer: int, layer: int) -> float:
        """Seconds of the timeline at which the layer has arrived."""

    def pending(self, producer: int, layer: int) -> bool:
        """Whether the layer's bytes have not been moved yet."""


class NoLoads:
    """An engine without a host tier has no producer to wait for."""

    def wait_until(self, producer: int, layer: int) -> float:
        return 0.0

    def pending(self, producer: int, layer: int) -> bool:
        return False


class LoadGate:
    """The gate of one engine's pools.

    A step of ``seconds`` reaches layer l of ``layers`` after l / ``layers`` of them, and later by
    what it waited. Copies in either direction land on its way.
    """

    def __init__(
        self,
        ask: ReadGate,
        streams: Streams,
        done: LayerDone,
        layers: int,
        events: EventLog,
        now: Callable[[], float],
        shadow: HostWatch | None = None,
    ) -> None:
        self._ask, self._streams, self._done = ask, streams, done
        self._shadow = shadow or HostWatch()
        self._loads: list[PageCopy] = []  # that fill what the step waits for
        self._layers, self._events, self._now = layers, events, now
        self._start_s = self._layer_s = self._late_s = 0.0
        self._stalled_s = self._longest_s = 0.0  # of the reader now, of any reader of the step
        self._producer = -1
        self._restoring: dict[int, None] = {}  # in order
        self._reading: list[int] = []

    def begin(self, seconds: float, late_s: float, producer: int, pages: Iterable[int]) -> None:
        """A step starts ``late_s`` from now; ``producer`` (-1: none) fills device ``pages``."""
        self._start_s, self._late_s = self._now() + late_s, late_s
        self._layer_s = seconds / self._layers
        self._producer, self._restoring = producer, dict.fromkeys(pages)
        self._stalled_s = self._longest_s = 0.0
        self._loads = self._shadow.loads_into(self._restoring)
        self._streams.land(self._start_s)

    def reader(self, pages: Iterable[int]) -> None:
        """Whose pages the next reads are: a request's prefix. Readers of a step go side by side."""
        prefix = list(pages)
        self._shadow.reader(prefix)
        self._reading = [page for page in prefix if page in self._restoring]
        self._stalled_s = 0.0

    def wait(self, pool: str, layer: int) -> None:
        """Move along to the layer, and to the end of its copies where the getter waits."""
        at = self._start_s + layer * self._layer_s + self._stalled_s
        if self._producer >= 0 and self._ask.waits(pool, layer):
            arrives = self._done.wait_until(self._producer, layer)
            self._stalled_s += max(0.0, arrives - at)
            self._longest_s = max(self._longest_s, self._stalled_s)
            at = max(at, arrives)  # to the last bit: a sum of differences may fall short of it
            self._shadow.waited(self._loads, layer)
        self._streams.land(at)
        self._shadow.read(pool, layer)
        if self._reading and self._done.pending(self._producer, layer):
            self._events.violation(
                "read_before_load",
                n=len(self._reading),
                pool=pool,
                layer=layer,
                page=self._reading[0],
                **self._shadow.about_loads(self._loads, f"the read of {pool}"),
            )

    def end(self) -> float:
        """Seconds that the step took beyond its own: late at its start, stalled on its way.

        ``load_wait_us`` counts the second part. The end passes every layer: the model leaves the
        last one out of a chunk that samples nothing, and the next chunk, whose step has no load,
        relies on it.
        """
        self._shadow.reader(())
        if self._producer >= 0:
            self.wait("swa", self._layers - 1)
            self._events.count("load_wait_us", round(1e6 * self._longest_s))
        self._producer, self._restoring, self._reading = -1, {}, []
        return self._late_s + self._longest_s

    def carry(self, fetched: float, stored: float) -> float:
        """Seconds for which the step that has ended waits for the bytes that it fetched itself.

        They cross behind its last layer, and what it stored on the host from its start on; nobody
        waits for that but the copies that go the same way after it.
        """
        last = self._start_s + self._layers * self._layer_s + self._longest_s
        self._streams.carry("d2h", stored, self._start_s)
        return self._streams.carry("h2d", fetched, last) - last
