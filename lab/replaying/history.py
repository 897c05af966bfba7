"""Two histories side by side. One rule: remarks describe a run, so they are never compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

from engine.events import REMARKS, Event, EventLog

Told = tuple[int, str, dict[str, Any]]  # virtual ns, kind, fields: as a history holds it


class Placed(NamedTuple):
    """An event and its number in its history, remarks counted, from 0."""

    number: int
    event: Event


@dataclass(frozen=True)
class Difference:
    """The first event that is not the same in both; None where a history has come to its end."""

    was: Placed | None
    here: Placed | None

    def document(self) -> dict[str, Any]:
        """For `--json`."""
        return {"was": told(self.was), "here": told(self.here)}


def happened(events: Iterable[Told]) -> list[Placed]:
    """The events of a history that are no remarks."""
    numbered = enumerate(events)
    return [Placed(number, Event(*it)) for number, it in numbered if it[1] not in REMARKS]


def digest_of(events: Iterable[Told]) -> str:
    """The digest of a history, from its events alone."""
    at_ns = 0
    log = EventLog(lambda: at_ns)
    for placed in happened(events):
        at_ns = placed.event.at_ns
        log.emit(placed.event.kind, **placed.event.fields)
    return log.digest()


def first_difference(was: Sequence[Told], here: Sequence[Told]) -> Difference | None:
    """Where two histories part; None where they are equal."""
    for one, other in zip_longest(happened(was), happened(here)):
        if one is None or other is None or one.event != other.event:
            return Difference(one, other)
    return None


def told(placed: Placed | None) -> dict[str, Any] | None:
    """An event with its number, for `--json`."""
    if placed is None:
        return None
    at_ns, kind, fields = placed.event
    return {"event": placed.number, "at_s": at_ns / 1e9, "kind": kind, "fields": dict(fields)}
