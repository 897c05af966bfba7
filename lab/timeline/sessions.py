"""What the clients saw: a track a session, a slice a turn, and in it what it waited for.

One rule: whose a request was is said where a client was told its number. A request of nobody known
(its client gave up, or left) is drawn apart, from its arrival to its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from engine.disagg.rooms import KVPoll
from lab.joins import REPLY
from lab.timeline.trace import Lanes

if TYPE_CHECKING:
    from lab.records import Reply
    from lab.timeline.scene import Happened, Scene
    from lab.timeline.trace import Track

SAID = ("status", "finish_reason", "prompt_tokens", "cached_tokens", "completion_tokens")
UNKNOWN = "requests of no known session"
SAID_TOO = ("request_id", "error", "tries")
DECODES = {KVPoll.SUCCESS.title: "decode"}  # what goes on in a room's state, if not its name
Phase = tuple[str, int, int]  # what is waited for, from, until


def draw_sessions(scene: Scene) -> int:
    """Draw the turns, and the requests of nobody known; how many turns."""
    pid, starts, retries = scene.process("sessions"), _admissions(scene), _retries(scene)
    for reply in scene.replies:
        track = scene.trace.track(pid, f"session {reply.session}")
        start, end = scene.lasts(reply)
        ok = "" if reply.status == "ok" else f" {reply.status}"
        scene.trace.slice(track, f"turn {reply.turn}{ok}", start, end, _args(reply))
        tries = retries.get((reply.session, reply.turn), [])
        for name, begins, ends in (*tries, *_phases(scene, reply, end, starts)):
            scene.trace.slice(track, name, begins, ends, {})
        _draw_findings(scene, track, reply, end)
    _draw_unknown(scene)
    return len(scene.replies)


def _args(reply: Reply) -> dict[str, Any]:
    said = {name: getattr(reply, name) for name in (*SAID, *SAID_TOO)}
    return {name: value for name, value in said.items() if value is not None}


def _draw_findings(scene: Scene, track: Track, reply: Reply, end_us: int) -> None:
    """What the detectors said of a reply, where it ends."""
    for it in scene.findings:
        if (it.session, it.turn, it.outcome) == (reply.session, reply.turn, "fail"):
            said = {"kind": it.kind, "detail": it.detail, "turn": it.turn}
            scene.trace.instant(track, it.detector, end_us, said)


def _phases(scene: Scene, reply: Reply, end_us: int, starts: dict[int, float]) -> Iterator[Phase]:
    """What the last try waited for: each phase ends where the next one begins.

    Queued, prefill, decode; in a pair the states of its room on the decode side, then decode.
    """
    known = REPLY.fullmatch(reply.request_id or "")
    request, sent = int(known[1]) if known else 0, scene.clock_us(reply.sent_s)
    if request in scene.rooms:
        entered = scene.rooms[request].decode
        begins = {DECODES.get(state, state): round(1e6 * at) for state, at in entered.items()}
    else:
        first = reply.first_token_s
        begins = {"prefill": round(starts.get(request, sent))}
        begins |= {} if first is None else {"decode": scene.clock_us(first)}
    at = {"queued": sent, **begins}
    clipped = [(name, min(max(sent, start), end_us)) for name, start in at.items()]
    ordered = sorted(clipped, key=lambda phase: phase[1])  # of two at once, the later state lasts
    ends = [start for _, start in ordered[1:]] + [end_us]
    for (name, start), end in zip(ordered, ends, strict=True):
        if start < end:
            yield name, start, end


def _admissions(scene: Scene) -> dict[int, float]:
    """When each request was let in for the first time, by its number."""
    found: dict[int, float] = {}
    for it in scene.events("admit"):
        found.setdefault(int(it.fields["request"]), it.at_us)
    return found


def _retries(scene: Scene) -> dict[tuple[int, int], list[Phase]]:
    """The tries of a turn that failed, and were asked again."""
    found: dict[tuple[int, int], list[Phase]] = {}
    for it in scene.events("client_retry"):
        if "sent_ns" in it.fields:
            sent, done = (scene.clock_us(it.fields[at] / 1e9) for at in ("sent_ns", "done_ns"))
            name = f"try {it.fields['tries']} {it.fields['status']}"
            place = int(it.fields["session"]), int(it.fields["turn"])
            found.setdefault(place, []).append((name, sent, done))
    return found


def _draw_unknown(scene: Scene) -> None:
    """Requests that no client was told the number of, with their ends."""
    ends = {_key(it): it for it in scene.all_events("end")}
    lanes: Lanes | None = None
    for it in scene.events("arrive"):
        if scene.whose.turn(it.fields) or not _told_first(it):
            continue
        lanes = lanes or Lanes(scene.trace, scene.process(UNKNOWN), "requests")
        end, start = ends.get(_key(it)), round(it.at_us)
        until = scene.end_us if end is None else round(end.at_us)
        args = {**it.fields, **(end.fields if end else {})}
        track = lanes.take(start, until)
        scene.trace.slice(track, f"request {it.fields['request']}", start, until, args)


def _told_first(it: Happened) -> bool:
    """Whether the event is the one of a request that is drawn: all sides and ranks tell of it."""
    return it.fields.get("side") != "prefill" and not it.fields.get("rank")


def _key(it: Happened) -> tuple[int, str, int]:
    return int(it.fields["request"]), str(it.fields.get("side", "")), int(it.fields.get("rank", 0))
