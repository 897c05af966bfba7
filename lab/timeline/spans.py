"""What took up time in an engine: steps, copies between the tiers, transfers.

One rule: a track is what can do one thing at a time: compute, a direction of the host's link, a
queue of a rank. Runs of before the engine told spans have none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from lab.timeline.trace import Lanes

if TYPE_CHECKING:
    from lab.timeline.scene import Happened, Scene
    from lab.timeline.trace import Track

ORDER = ("compute", "backup", "load")  # then the wires
OF_THE_TRACK = frozenset({"track", "name", "start_us", "end_us", "side", "rank"})


class Drawn(NamedTuple):
    """A span and where it was drawn.

    ``kind`` is its track's name, without a wire's numbers; ``number`` counts, from 1, what was told
    of one track of one engine; ``told_us`` is when: a step's work, a copy's issue, a job's end.
    """

    pid: int
    kind: str
    number: int
    told_us: float
    track: Track
    fields: Mapping[str, Any]

    @property
    def start_us(self) -> int:
        """When it began."""
        return int(self.fields["start_us"])

    @property
    def end_us(self) -> int:
        """When it ended."""
        return int(self.fields["end_us"])


def draw_spans(scene: Scene) -> list[Drawn]:
    """Draw every span of the arm that lasts into the window, by engine, place and start."""
    lanes: dict[tuple[int, str], Lanes] = {}
    drawn: list[Drawn] = []
    for number, it in sorted(_numbered(scene), key=_order):
        fields, pid = it.fields, scene.side(it.fields)
        start, end = int(fields["start_us"]), int(fields["end_us"])
        if not scene.window.meets(start, end):
            continue
        place = pid, str(fields["track"])
        track = lanes.setdefault(place, Lanes(scene.trace, *place)).take(start, end)
        args = {key: value for key, value in fields.items() if key not in OF_THE_TRACK}
        scene.trace.slice(track, _title(fields), start, end, args)
        drawn.append(Drawn(pid, place[1].split(" ")[0], number, it.at_us, track, fields))
    return drawn


def has_spans(scene: Scene) -> bool:
    """Whether the arm's engine told any."""
    return any(True for _ in scene.all_events("span"))


def _numbered(scene: Scene) -> Iterator[tuple[int, Happened]]:
    """Spans as they were told, numbered on each track of each engine."""
    told: Counter[tuple[Any, ...]] = Counter()
    for it in scene.all_events("span"):
        place = it.fields["track"], it.fields.get("side"), it.fields.get("rank")
        told[place] += 1
        yield told[place], it


def _order(numbered: tuple[int, Happened]) -> tuple[Any, ...]:
    """By engine, the prefill side first, by place and by start: a copy is told when it is issued,
    which may be long before it starts.
    """
    fields = numbered[1].fields
    engine = fields.get("side") == "decode", fields.get("rank", 0)
    return *engine, _place(str(fields["track"])), int(fields["start_us"])


def _place(track: str) -> tuple[int, int, str]:
    place = ORDER.index(track) if track in ORDER else len(ORDER)
    return place, len(track), track  # queue 10 after queue 9


def _title(fields: Mapping[str, Any]) -> str:
    """What a slice shows: padding beside the rows, pages, or the room and how its job ended."""
    name = str(fields["name"])
    if name == "decode":
        padding = fields["size"] - fields["rows"]
        return f"decode {fields['rows']}" + (f" + {padding} padding" if padding else "")
    if name == "prefill":
        return f"prefill {fields['tokens']} tokens"
    if "room" in fields:
        ended = "" if fields["state"] == "DONE" else f" {fields['state']}"
        return f"room {fields['room']} chunk {fields['chunk']}{ended}"
    return f"{name} {fields['pages']} pages" if "pages" in fields else name
