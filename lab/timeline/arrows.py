"""Arrows: from the work that wrote a bad row to the step in which that was seen.

One rule: an arrow is drawn where both ends are known; a guess is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lab.timeline.scene import Happened, Scene
    from lab.timeline.spans import Drawn

COPIES = ("backup", "load")


def draw_arrows(scene: Scene, spans: Sequence[Drawn]) -> int:
    """Draw one for each violation whose writer and whose step were drawn; how many."""
    compute: dict[int, list[Drawn]] = {}
    for span in spans:
        if span.kind == "compute":
            compute.setdefault(span.pid, []).append(span)
    drawn = 0
    for it in scene.events("violation"):
        steps = compute.get(scene.side(it.fields), [])
        writer, reader = _writer(it, spans, steps), _reader(it, steps)
        if writer and reader and writer is not reader and _middle(writer) <= _middle(reader):
            ends = (writer.track, _middle(writer)), (reader.track, _middle(reader))
            scene.trace.arrow(str(it.fields["name"]), *ends)
            drawn += 1
    return drawn


def _writer(it: Happened, spans: Sequence[Drawn], steps: Sequence[Drawn]) -> Drawn | None:
    """The last writer that a violation names: a transfer, a copy or a step."""
    fields = it.fields
    if room := fields.get("writer_room"):
        of_room = [span for span in spans if span.kind == "wire" and span.fields["room"] == room]
        return next((span for span in reversed(of_room) if span.start_us <= it.at_us), None)
    if (at_us := fields.get("writer_at_us")) is None:
        return None
    if (kind := fields.get("writer_kind")) in COPIES:
        pid = steps[0].pid if steps else None
        copies = (span for span in spans if (span.pid, span.kind) == (pid, kind))
        return _going_on(copies, at_us)
    return _going_on(steps, at_us)


def _reader(it: Happened, steps: Iterable[Drawn]) -> Drawn | None:
    """The step that was going on when a violation was seen, or that began with it."""
    found = _going_on(steps, it.at_us)
    return found if found and (found.start_us <= it.at_us + 1 or "step" in it.fields) else None


def _going_on(spans: Iterable[Drawn], at_us: Any) -> Drawn | None:
    """The first one that has not ended at a moment: in order of starts, whoever takes turns."""
    return next((span for span in spans if span.end_us > at_us), None)


def _middle(span: Drawn) -> int:
    return (span.start_us + span.end_us) // 2
