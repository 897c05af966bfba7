"""A trace in Chrome's JSON format: what the other files of this package draw on.

One rule: slices of one track nest or follow each other. What would cross another one goes to a
track beside it (`Lanes`): viewers drop slices that overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Args = Mapping[str, Any]
FIRST_TID = 1001  # no thread bears a process's number: viewers take that for its main thread


class Track(NamedTuple):
    """A thread of a process, by numbers that no other one has."""

    pid: int
    tid: int


@dataclass
class Trace:
    """Events in the order in which they are added; a parent goes before its children.

    Times are microseconds. Processes and tracks are shown in the order of their first mention.
    """

    events: list[dict[str, Any]] = field(default_factory=list)
    _processes: dict[str, int] = field(default_factory=dict)
    _tracks: dict[tuple[int, str], Track] = field(default_factory=dict)
    _arrows: int = 0

    def process(self, name: str) -> int:
        """The process of this name, made where there is none."""
        if name not in self._processes:
            pid = self._processes[name] = len(self._processes) + 1
            self._name("process", pid, 0, name, pid)
        return self._processes[name]

    def track(self, pid: int, name: str) -> Track:
        """The track of this name in a process, made where there is none."""
        if (pid, name) not in self._tracks:
            made = Track(pid, FIRST_TID + len(self._tracks))
            self._tracks[pid, name] = made
            self._name("thread", *made, name, made.tid)
        return self._tracks[pid, name]

    def slice(self, track: Track, name: str, start_us: int, end_us: int, args: Args) -> None:
        """Something that lasts; one that ends before it starts lasts nothing."""
        self._add("X", track, name, start_us, args, dur=max(0, end_us - start_us))

    def instant(self, track: Track, name: str, at_us: float, args: Args) -> None:
        """Something that happens at once."""
        self._add("i", track, name, at_us, args, s="t")

    def counter(self, pid: int, name: str, at_us: float, values: Mapping[str, int]) -> None:
        """Values from a moment on."""
        self._add("C", Track(pid, 0), name, at_us, values)

    def arrow(self, name: str, frm: tuple[Track, float], to: tuple[Track, float]) -> None:
        """From the slice that is open on a track at a moment to another one, no earlier."""
        self._arrows += 1
        self._add("s", *_named(frm, name), {}, id=self._arrows, cat="flow")
        self._add("f", *_named(to, name), {}, id=self._arrows, cat="flow", bp="e")

    def taken(self) -> Iterator[dict[str, Any]]:
        """The events since the last call, which are no longer held."""
        events, self.events = self.events, []
        return iter(events)

    def _name(self, what: str, pid: int, tid: int, name: str, place: int) -> None:
        where = {"pid": pid, "tid": tid, "ph": "M"}
        self.events.append({**where, "name": f"{what}_name", "args": {"name": name}})
        self.events.append({**where, "name": f"{what}_sort_index", "args": {"sort_index": place}})

    def _add(
        self, phase: str, track: Track, name: str, at_us: float, args: Args, **more: Any
    ) -> None:
        event = {"ph": phase, "pid": track.pid, "tid": track.tid, "name": name, "ts": at_us}
        self.events.append({"cat": "kvlab", **event, **more, "args": dict(args)})


class Lanes:
    """As many tracks under one name as it takes for slices not to overlap; in order of starts."""

    def __init__(self, trace: Trace, pid: int, name: str) -> None:
        self._trace, self._pid, self._name = trace, pid, name
        self._ends: list[int] = []  # of the last slice in each lane

    def take(self, start_us: int, end_us: int) -> Track:
        """The first track that is free from ``start_us`` on; it is taken until ``end_us``."""
        lane = next((i for i, end in enumerate(self._ends) if end <= start_us), len(self._ends))
        self._ends[lane:] = [end_us, *self._ends[lane + 1 :]]
        name = self._name if not lane else f"{self._name} ({lane + 1})"
        return self._trace.track(self._pid, name)


def _named(at: tuple[Track, float], name: str) -> tuple[Track, str, float]:
    return at[0], name, at[1]
