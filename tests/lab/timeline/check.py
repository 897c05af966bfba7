"""What a viewer asks of a trace, as Perfetto's importer and the format's description have it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Event = dict[str, Any]
Place = tuple[int, int]
TIMED = frozenset("XiCsf")


def problems(text: str) -> list[str]:
    """All that is wrong with a trace, as sentences; none for one that opens."""
    events: list[Event] = json.loads(text)["traceEvents"]
    return [
        *_fields(events),
        *_names(events),
        *_nesting(events),
        *_arrows(events),
    ]


def slices(events: Sequence[Event]) -> dict[Place, list[Event]]:
    """The slices of each track, by start, a parent before its children."""
    found: dict[Place, list[Event]] = {}
    for event in events:
        if event["ph"] == "X":
            found.setdefault((event["pid"], event["tid"]), []).append(event)
    return {place: sorted(its, key=lambda it: it["ts"]) for place, its in found.items()}


def names(events: Sequence[Event], what: str) -> dict[Place, str]:
    """The names of processes (their tid is 0) or threads."""
    return {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in events
        if event["ph"] == "M" and event["name"] == f"{what}_name"
    }


def _fields(events: Sequence[Event]) -> Iterator[str]:
    for event in events:
        if not {"ph", "pid", "tid", "name", "args"} <= event.keys():
            yield f"{event} lacks a field"
        elif event["ph"] not in TIMED | {"M"}:
            yield f"{event} has an unknown phase"
        elif event["ph"] in TIMED and not event.get("ts", -1) >= 0:
            yield f"{event} is at no time"
        elif event["ph"] == "X" and not event.get("dur", -1) >= 0:
            yield f"{event} lasts no time"
        elif event["ph"] == "i" and event.get("s") not in ("t", "p", "g"):
            yield f"{event} has no scope"
        elif event["ph"] == "C" and not all(isinstance(it, int) for it in event["args"].values()):
            yield f"{event} counts what is no number"


def _names(events: Sequence[Event]) -> Iterator[str]:
    processes, threads = names(events, "process"), names(events, "thread")
    for event in events:
        if event["ph"] == "M":
            continue
        if (event["pid"], 0) not in processes:
            yield f"{event} is on a process without a name"
        if event["ph"] != "C" and (event["pid"], event["tid"]) not in threads:
            yield f"{event} is on a track without a name"
    for named in (processes, threads):
        if len({*named}) != len({(pid, name) for (pid, _), name in named.items()}):
            yield f"two of {sorted(named.values())} have one name"
    tids = [tid for _, tid in threads]
    if len({*tids}) != len(tids) or {*tids} & {pid for pid, _ in processes}:
        yield "a thread has the number of another one, or of a process"


def _nesting(events: Sequence[Event]) -> Iterator[str]:
    for place, its in slices(events).items():
        open_until: list[float] = []
        for it in its:
            while open_until and open_until[-1] <= it["ts"]:
                open_until.pop()
            end = it["ts"] + it["dur"]
            if open_until and end > open_until[-1]:
                yield f"{place}: {it} ends after what it lies in"
            open_until.append(end)


def _arrows(events: Sequence[Event]) -> Iterator[str]:
    by_track = slices(events)
    ends: dict[int, list[Event]] = {}
    for event in events:
        if event["ph"] in "sf":
            ends.setdefault(event["id"], []).append(event)
            if not _open(by_track, event):
                yield f"{event} is in no slice"
    for number, its in ends.items():
        if [it["ph"] for it in its] != ["s", "f"] or its[0]["ts"] > its[1]["ts"]:
            yield f"arrow {number} does not go from a start to a later end"


def _open(by_track: Mapping[Place, Sequence[Event]], at: Event) -> bool:
    its = by_track.get((at["pid"], at["tid"]), ())
    return any(it["ts"] <= at["ts"] <= it["ts"] + it["dur"] for it in its)
