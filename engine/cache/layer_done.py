"""Which layers of a restored prefix have arrived. One rule: a step waits for its own load."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.events import EventLog
    from engine.streams import Copy

# As many as SGLang rotates, whose scheduler starts loads ahead of the forward that reads them. Here
# a step has passed all of its load before the next is launched: one that is not free is a finding.
EVENTS = 3


class LayerLoadingEvent:
    """The load of one step, asked layer by layer."""

    def __init__(self) -> None:
        self.copy: Copy | None = None

    @property
    def finished(self) -> bool:
        """Whether nothing of it is on its way."""
        return self.copy is None or self.copy.done


class LayerDoneCounter:
    """The last three loads, by the producer index that their step was given."""

    def __init__(self, events: EventLog) -> None:
        self._events = events
        self._ring = [LayerLoadingEvent() for _ in range(EVENTS)]
        self._producer = -1

    def update_producer(self, copy: Copy) -> int:
        """Give the next event to a load; its index."""
        self._producer = (self._producer + 1) % EVENTS
        event = self._ring[self._producer]
        if not event.finished:
            self._events.violation("loading_event_reused", producer=self._producer)
        event.copy = copy
        return self._producer

    def wait_until(self, producer: int, layer: int) -> float:
        """When layer ``layer`` of a step's load arrives, seconds; 0.0 for a step without one."""
        copy = self._ring[producer].copy if producer >= 0 else None
        return copy.ends[layer] if copy is not None else 0.0

    def pending(self, producer: int, layer: int) -> bool:
        """Whether that layer is still on its way."""
        copy = self._ring[producer].copy if producer >= 0 else None
        return copy is not None and copy.landed <= layer
