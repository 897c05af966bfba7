"""Arms to draw, made up: what an engine told, and what its clients saw. Times in microseconds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lab.records import ArmHistory, Finding, Reply
from lab.timeline.arrows import draw_arrows
from lab.timeline.counters import draw_counters
from lab.timeline.instants import draw_instants
from lab.timeline.scene import Scene
from lab.timeline.sessions import draw_sessions
from lab.timeline.spans import draw_spans
from lab.timeline.trace import Trace
from tests.lab.samples import history, reply
from tests.lab.timeline.check import Event, names

Told = tuple[int, str, dict[str, Any]]


def told(at_us: float, kind: str, **fields: Any) -> Told:
    """An event of the history."""
    return round(at_us * 1000), kind, fields


def span(track: str, name: str, start_us: int, end_us: int, **more: Any) -> Told:
    """A span, told when it begins."""
    times = {"start_us": start_us, "end_us": end_us}
    return told(start_us, "span", track=track, name=name, **times, **more)


def step(number: int, start_us: int, end_us: int, rows: int = 3, size: int = 4, **at: Any) -> Told:
    """The span of a decode step."""
    return span("compute", "decode", start_us, end_us, step=number, rows=rows, size=size, **at)


def answer(session: int, turn: int, request: int, sent_us: int, *ends_us: int) -> Reply:
    """A reply that was sent, began and was done at these times; ``ok`` if it was done."""
    first, done = [at / 1e6 for at in ends_us] or [None, None]
    made = reply(session, turn, status="ok" if ends_us else "timeout")
    times = {"sent_s": sent_us / 1e6, "first_token_s": first, "done_s": done}
    return replace(made, request_id=f"chatcmpl-{request}" if request else None, **times)


def arm(*events: Told, replies: Sequence[Reply] = (), **settings: Any) -> ArmHistory:
    """An arm of 90 ms that left these events and replies."""
    made = history("one", sessions=0)
    events_in_order = sorted(events, key=lambda it: it[0])
    made = replace(made, events=events_in_order, replies=list(replies), virtual_s=0.09)
    return replace(made, settings=settings, counters={})


class Drawing:
    """An arm, drawn whole."""

    def __init__(
        self, made: ArmHistory, findings: Sequence[Finding] = (), session: int | None = None
    ) -> None:
        self.trace = Trace()
        scene = Scene(self.trace, made, findings, session=session)
        spans = draw_spans(scene)
        draw_instants(scene)
        self.arrows = draw_arrows(scene, spans)
        draw_counters(scene)
        draw_sessions(scene)

    @property
    def text(self) -> str:
        """The trace as a file holds it."""
        return json.dumps({"traceEvents": self.trace.events})

    def on(self, process: str, track: str, phase: str = "X") -> list[Event]:
        """What lies on one track."""
        return on(self.trace.events, process, track, phase)

    def shown(self, process: str, track: str, phase: str = "X") -> list[tuple[Any, ...]]:
        """The same: names, times and, of slices, ends."""
        return [
            (it["name"], it["ts"], *([it["ts"] + it["dur"]] if "dur" in it else []))
            for it in self.on(process, track, phase)
        ]


def on(events: Sequence[Event], process: str, track: str, phase: str = "X") -> list[Event]:
    """What lies on one track of a trace."""
    processes, threads = names(events, "process"), names(events, "thread")
    return [
        it
        for it in events
        if it["ph"] == phase
        and processes[it["pid"], 0] == process
        and threads.get((it["pid"], it["tid"])) == track
    ]


def opened(path: Path) -> list[Event]:
    """The events of a trace file."""
    events: list[Event] = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    return events
