"""A trace numbers and names what it is given, and keeps slices apart."""

from __future__ import annotations

import json

from lab.timeline.trace import Lanes, Trace
from tests.lab.timeline.check import names, problems


def test_processes_and_tracks_are_made_once_and_named() -> None:
    trace = Trace()
    engine, other = trace.process("engine"), trace.process("other")
    assert (trace.process("engine"), engine != other) == (engine, True)
    track = trace.track(engine, "compute")
    assert trace.track(engine, "compute") == track != trace.track(other, "compute")
    assert {*names(trace.events, "process").values()} == {"engine", "other"}
    assert [*names(trace.events, "thread").values()] == ["compute", "compute"]


def test_a_slice_that_would_overlap_goes_to_a_track_beside() -> None:
    trace = Trace()
    lanes = Lanes(trace, trace.process("engine"), "requests")
    for start, end in ((0, 9), (3, 5), (5, 7), (6, 12), (9, 20)):
        trace.slice(lanes.take(start, end), "request", start, end, {})
    assert [*names(trace.events, "thread").values()] == ["requests", "requests (2)", "requests (3)"]
    assert problems(json.dumps({"traceEvents": trace.events})) == []


def test_the_check_sees_a_slice_that_crosses_another_one() -> None:
    trace = Trace()
    track = trace.track(trace.process("engine"), "compute")
    trace.slice(track, "one", 0, 9, {})
    trace.slice(track, "two", 5, 12, {})
    assert len(problems(json.dumps({"traceEvents": trace.events}))) == 1


def test_an_arrow_goes_from_a_slice_to_a_later_one() -> None:
    trace = Trace()
    track = trace.track(trace.process("engine"), "compute")
    trace.slice(track, "one", 0, 9, {})
    trace.slice(track, "two", 9, 12, {})
    trace.arrow("read", (track, 4), (track, 10))
    start, end = (event for event in trace.events if event["ph"] in "sf")
    assert (start["id"], start["ts"], end["ts"], end["bp"]) == (end["id"], 4, 10, "e")
    assert problems(json.dumps({"traceEvents": trace.events})) == []
