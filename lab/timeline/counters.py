"""How full an engine is, as it goes on: rows of a step and its padding, requests, free pages.

One rule: what events of every stored run say is read from them, so old runs have it too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.timeline.scene import Happened, Scene

CHANGES = {"arrive": 1, "admit": 0, "retract": 0, "end": -1}  # of the requests that are open


def draw_counters(scene: Scene) -> None:
    """Draw the counters of every engine."""
    for it in scene.events("decode"):
        rows = {"rows": it.fields["rows"], "padding": it.fields["size"] - it.fields["rows"]}
        scene.trace.counter(scene.side(it.fields), "decode rows", it.at_us, rows)
    for it in scene.events("span"):
        if "free" in it.fields:
            free = {"free": it.fields["free"]}
            scene.trace.counter(scene.side(it.fields), "pages", it.at_us, free)
    standing: dict[int, Requests] = {}
    for it in scene.all_events(*CHANGES):
        pid = scene.side(it.fields)
        counted = standing.setdefault(pid, Requests()).hear(it)
        if scene.window.meets(it.at_us, it.at_us):
            scene.trace.counter(pid, "requests", it.at_us, counted)


class Requests:
    """The requests of one engine that have not ended, and those of them that it let in.

    The decode side of a pair lets nobody in: it says nothing of that.
    """

    def __init__(self) -> None:
        self._open = 0
        self._let_in: dict[int, None] | None = None

    def hear(self, it: Happened) -> dict[str, int]:
        """Take an event; how many there are after it."""
        request = int(it.fields["request"])
        self._open = max(0, self._open + CHANGES[it.kind])
        if it.kind == "admit":
            self._let_in = {**(self._let_in or {}), request: None}
        elif self._let_in is not None and it.kind != "arrive":
            self._let_in.pop(request, None)
        admitted = {} if self._let_in is None else {"admitted": len(self._let_in)}
        return {"open": self._open, **admitted}
