"""What took up time in an engine: steps, copies between the tiers, transfers.

One rule: a track is what can do one thing at a time: compute, a direction of the host's link, a
queue of a rank. Runs of before the engine told spans have none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from lab.timeline.trace import Lanes

if TYPE_CHECKING:
    from lab.timeline.scene import Scene
    from lab.timeline.trace import Track

ORDER = ("compute", "backup", "load")  # then the wires
OF_THE_TRACK = frozenset({"track", "name", "start_us", "end_us", "side", "rank"})


class Drawn(NamedTuple):
    """A span and where it was drawn; ``kind`` is its track's name, without a wire's numbers."""

    pid: int
    kind: str
    track: Track
    start_us: int
    end_us: int
    fields: dict[str, Any]


def draw_spans(scene: Scene) -> list[Drawn]:
    """Draw every span of the arm that lasts into the window."""
    return [_draw(scene, lanes, fields) for lanes, fields in _placed(scene, _spans(scene))]


def has_spans(scene: Scene) -> bool:
    """Whether the arm's engine told any."""
    return any(kind == "span" for _, kind, _ in scene.history.events)


def _spans(scene: Scene) -> list[dict[str, Any]]:
    """By place and start; a copy is told when it is issued, which may be long before it starts."""
    told = [dict(fields) for _, kind, fields in scene.history.events if kind == "span"]
    told = [it for it in told if scene.window.meets(it["start_us"], it["end_us"])]
    return sorted(told, key=lambda it: (_place(it["track"]), it["start_us"]))


def _placed(
    scene: Scene, spans: Iterable[dict[str, Any]]
) -> Iterable[tuple[tuple[int, Lanes], dict[str, Any]]]:
    lanes: dict[tuple[int, str], Lanes] = {}
    for fields in spans:
        pid = scene.side(fields)
        key = pid, fields["track"]
        yield (pid, lanes.setdefault(key, Lanes(scene.trace, *key))), fields


def _draw(scene: Scene, on: tuple[int, Lanes], fields: dict[str, Any]) -> Drawn:
    pid, lanes = on
    start, end = int(fields["start_us"]), int(fields["end_us"])
    track = lanes.take(start, end)
    args = {key: value for key, value in fields.items() if key not in OF_THE_TRACK}
    scene.trace.slice(track, _title(fields), start, end, args)
    return Drawn(pid, str(fields["track"]).split(" ")[0], track, start, end, fields)


def _place(track: str) -> tuple[int, int, str]:
    place = ORDER.index(track) if track in ORDER else len(ORDER)
    return place, len(track), track  # queue 10 after queue 9


def _title(fields: dict[str, Any]) -> str:
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
