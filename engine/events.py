"""The history: what happened, when, in the engine's own order.

One rule: events hold tokens, slots, owners, counts and virtual times, never a kernel's floats,
so that one seed gives one digest on every machine.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import NamedTuple

Field = int | str
REMARKS = frozenset(  # kinds that describe a run, and are no part of it
    {
        "cache_flush",
        "generator",
        "server_counts",
        "server_info",
        "server_unheard",
        "setting_effective",
        "setting_not_read",
        "span",
    }
)


class Event(NamedTuple):
    """One thing that happened. ``at_ns`` is the loop's clock in nanoseconds."""

    at_ns: int
    kind: str
    fields: dict[str, Field]


class EventLog:
    """An append-only history with named counters and a running digest.

    ``listener`` hears each event once it is part of both; remarks are none.
    """

    def __init__(self, now_ns: Callable[[], int]) -> None:
        self._now_ns = now_ns
        self._sha = hashlib.sha256()
        self.events: list[Event] = []
        self.counters: dict[str, int] = {}
        self.listener: Callable[[Event], None] | None = None

    def emit(self, kind: str, **fields: Field) -> None:
        """Append one event, stamped with the clock."""
        event = self._append(kind, fields)
        self._sha.update(json.dumps(event, sort_keys=True, separators=(",", ":")).encode())
        if self.listener is not None:
            self.listener(event)

    def remark(self, kind: str, **fields: Field) -> None:
        """Append what describes a run and did not happen in it: no part of the digest."""
        self._append(kind, fields)

    def count(self, name: str, n: int = 1) -> None:
        """Add ``n`` to a counter: exposure, ``violation:<name>`` or ``fault:<name>``."""
        self.counters[name] = self.counters.get(name, 0) + n

    def reach(self, name: str, n: int) -> None:
        """Raise a counter ``largest:<what>`` to ``n`` if it is below: how near a limit it got."""
        self.counters[name] = max(n, self.counters.get(name, 0))

    def violation(self, name: str, n: int = 1, **fields: Field) -> None:
        """Record a broken invariant: ``n`` occurrences, one event with its evidence."""
        self.count(f"violation:{name}", n)
        self.emit("violation", name=name, n=n, **fields)

    def fault(self, name: str, n: int = 1, **fields: Field) -> None:
        """Record evidence of a fault that destroys no row: a liveness fault, a false alarm."""
        self.count(f"fault:{name}", n)
        self.emit("fault", name=name, n=n, **fields)

    def side(self, name: str, rank: int = 0) -> EventLog:
        """The same history, as one rank of one of two engines writes it."""
        return SideLog(self, name, rank)

    def digest(self) -> str:
        """SHA-256 over the whole history so far, remarks left out, as ``sha256:<hex>``."""
        return "sha256:" + self._sha.hexdigest()

    def _append(self, kind: str, fields: dict[str, Field]) -> Event:
        event = Event(self._now_ns(), kind, fields)
        self.events.append(event)
        return event


class SideLog(EventLog):
    """A writer of another log: every event says the side, and the rank unless it is the first.

    Ranks do the same work, so only the first one's counters count; broken invariants always do.
    """

    def __init__(self, log: EventLog, side: str, rank: int) -> None:
        self._log, self._rank = log, rank
        self._tag: dict[str, Field] = {"side": side} | ({"rank": rank} if rank else {})
        self.events, self.counters = log.events, log.counters

    def emit(self, kind: str, **fields: Field) -> None:
        self._log.emit(kind, **fields, **self._tag)

    def remark(self, kind: str, **fields: Field) -> None:
        self._log.remark(kind, **fields, **self._tag)

    def count(self, name: str, n: int = 1) -> None:
        if not self._rank or name.startswith(("violation:", "fault:")):
            self._log.count(name, n)

    def digest(self) -> str:
        return self._log.digest()
