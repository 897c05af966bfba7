"""One arm to be drawn: what it left, and on which processes of which trace that goes.

One rule: every time in a trace is of the engine's clock, in microseconds; a client's is counted
from the arm's start, and is put on it here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from lab.concerned import Whose
from lab.rooms import disaggregated

if TYPE_CHECKING:
    from engine.disagg.records import RoomRecord
    from lab.records import ArmHistory, Finding, Reply
    from lab.timeline.trace import Trace


class Window(NamedTuple):
    """The part of the time that is drawn, microseconds, both ends included."""

    start_us: float = 0.0
    end_us: float = float("inf")

    def meets(self, start_us: float, end_us: float) -> bool:
        """Whether something lasts into it."""
        return start_us <= self.end_us and end_us >= self.start_us


class Happened(NamedTuple):
    """An event of the history, its time in microseconds."""

    at_us: float
    kind: str
    fields: Mapping[str, Any]


@dataclass(frozen=True)
class Scene:
    """An arm, and where it is drawn. ``prefix`` names it where a trace has several.

    ``session`` narrows it to the time of that session; others have no track then.
    """

    trace: Trace
    history: ArmHistory
    findings: Sequence[Finding] = ()
    prefix: str = ""
    session: int | None = None

    def process(self, name: str) -> int:
        """The number of a process of this arm."""
        return self.trace.process(self.prefix + name)

    def side(self, fields: Mapping[str, Any]) -> int:
        """The process of the engine that wrote an event: its side and its rank, where it has any.

        What neither side of a pair wrote alone is of both.
        """
        rank = f" rank {fields.get('rank', 0)}" if self._ranks > 1 else ""
        if "side" in fields:
            return self.process(f"{fields['side']}{rank}")
        return self.process("both sides" if self._pair else f"engine{rank}")

    def events(self, *kinds: str) -> Iterator[Happened]:
        """The events of some kinds that lie in the window, in order."""
        return (it for it in self.all_events(*kinds) if self.window.meets(it.at_us, it.at_us))

    def all_events(self, *kinds: str) -> Iterator[Happened]:
        """The same, whenever they happened."""
        for at_ns, kind, fields in self.history.events:
            if kind in kinds:
                yield Happened(round(at_ns / 1000, 3), kind, fields)

    def clock_us(self, arm_s: float) -> int:
        """A client's time on the engine's clock."""
        return round(1e6 * (self.origin_s + arm_s))

    @cached_property
    def origin_s(self) -> float:
        """When the arm began: its plans are told just before anything is sent."""
        starts = (at for at, kind, _ in self.history.events if kind == "session_planned")
        return next(starts, 0) / 1e9

    @cached_property
    def end_us(self) -> int:
        """When the arm ended."""
        return round(1e6 * self.history.virtual_s)

    @cached_property
    def window(self) -> Window:
        """From the first sending of the session until its last reply; all of it without one."""
        if self.session is None:
            return Window()
        lasts = [self.lasts(it) for it in self.replies]
        starts, ends = [start for start, _ in lasts], [end for _, end in lasts]
        return Window(min(starts, default=0), max(ends, default=0))

    @cached_property
    def replies(self) -> list[Reply]:
        """The replies that were asked for, by session and turn; of the session, if there is one."""
        asked = [it for it in self.history.replies if it.status != "not_sent"]
        asked = [it for it in asked if self.session in (None, it.session)]
        return sorted(asked, key=lambda it: (it.session, it.turn))

    def lasts(self, reply: Reply) -> tuple[int, int]:
        """From its first sending to its end, which is the arm's where it has none."""
        end = self.end_us if reply.done_s is None else self.clock_us(reply.done_s)
        return self.clock_us(reply.began_s), end

    @cached_property
    def whose(self) -> Whose:
        """Whose turn an event concerns, as far as that is known."""
        return Whose(self.history)

    @cached_property
    def rooms(self) -> dict[int, RoomRecord]:
        """The rooms of the first rank, by the number of their request."""
        return {room.request: room for room in self.history.rooms if not room.rank}

    def about(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """An event's fields, and the session and turn that it concerns."""
        turn = self.whose.turn(fields)
        return {**fields, **(turn._asdict() if turn else {})}

    @cached_property
    def _pair(self) -> bool:
        return disaggregated(self.history.settings, self.history.counters)

    @cached_property
    def _ranks(self) -> int:
        return int(self.history.settings.get("tp") or 1) if self._pair else 1
