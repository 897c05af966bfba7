"""Arrows: from the work that wrote a bad row to the step in which that was seen.

One rule: an arrow is drawn where both ends are known; a guess is none.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.timeline.scene import Happened, Scene
    from lab.timeline.spans import Drawn

BACKUP = re.compile(r"backup (\d+)")  # the first, the second, ... that an engine issued
US = 1  # what two roundings of one moment may differ by


def draw_arrows(scene: Scene, spans: Sequence[Drawn]) -> int:
    """Draw one for each violation whose writer and whose step were drawn; how many."""
    engines: dict[int, Work] = {}
    transfers: dict[tuple[int, int], list[Drawn]] = {}  # by room and rank
    for span in spans:
        if span.kind == "wire":
            place = int(span.fields["room"]), int(span.fields.get("rank", 0))
            transfers.setdefault(place, []).append(span)
        else:
            engines.setdefault(span.pid, Work()).add(span)
    return sum(
        _draw(scene, it, engines.get(scene.side(it.fields), Work()), transfers)
        for it in scene.events("violation")
    )


class Work:
    """The steps and copies of one engine, each kind in the order in which it went on."""

    def __init__(self) -> None:
        self.steps: dict[int, Drawn] = {}  # by each of their numbers
        self.backups: dict[int, Drawn] = {}
        self._of: dict[str, list[Drawn]] = {}

    def add(self, span: Drawn) -> None:
        """File a span behind those of its kind; a prefill has as many numbers as rows."""
        self._of.setdefault(span.kind, []).append(span)
        if span.kind == "backup":
            self.backups[span.number] = span
        elif span.kind == "compute":
            last = int(span.fields["step"])
            several = int(span.fields["rows"]) if span.fields["name"] == "prefill" else 1
            self.steps |= dict.fromkeys(range(last - several + 1, last + 1), span)

    def going_on(self, kind: str, at_us: float) -> Drawn | None:
        """The only one of a kind that had been told of at a moment, and had not ended."""
        its = self._of.get(kind, [])
        begun = bisect_right(its, at_us + US, key=lambda span: span.told_us)
        last = its[max(0, begun - 2) : begun]
        found = [span for span in last if span.end_us > at_us]
        return found[0] if len(found) == 1 else None


def _draw(
    scene: Scene, it: Happened, own: Work, transfers: Mapping[tuple[int, int], Sequence[Drawn]]
) -> bool:
    """Draw the arrow of a violation; whether there is one."""
    at = it.fields.get("step")
    reader = own.going_on("compute", it.at_us) if at is None else own.steps.get(int(at))
    writer = _transfer(it, transfers) if "writer_room" in it.fields else _writer(it, own)
    if not (writer and reader) or writer is reader or _middle(writer) > _middle(reader):
        return False
    ends = (writer.track, _middle(writer)), (reader.track, _middle(reader))
    scene.trace.arrow(str(it.fields["name"]), *ends)
    return True


def _writer(it: Happened, own: Work) -> Drawn | None:
    """The step or the copy of its own engine that a violation names."""
    fields = it.fields
    if "writer_step" in fields:
        return own.steps.get(int(fields["writer_step"]))
    if named := BACKUP.match(str(fields.get("writer", ""))):
        return own.backups.get(int(named[1]))
    if fields.get("writer_kind") == "load" and "writer_at_us" in fields:
        return own.going_on("load", fields["writer_at_us"])
    return None


def _transfer(it: Happened, transfers: Mapping[tuple[int, int], Sequence[Drawn]]) -> Drawn | None:
    """The last transfer of the room that a violation names, by a queue of the same rank."""
    its = transfers.get((int(it.fields["writer_room"]), int(it.fields.get("rank", 0))), ())
    return next((span for span in reversed(its) if span.start_us <= it.at_us), None)


def _middle(span: Drawn) -> int:
    return (span.start_us + span.end_us) // 2
