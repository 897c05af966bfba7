"""What the fault of a build says that it damaged, beside what became of the replies.

One rule: a fault's own words are held against the replies, never taken for a verdict. A reply
*depends* on damaged rows where one of its tokens has no source but in them, or reads its window
there; the place of its first wrong token *is found* where what that token is made of is read from
these rows, or from the positions of the rows that lie there instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lab.placing.judge import Places, ids_of
from lab.placing.places import Text
from lab.placing.shown import Conversations

if TYPE_CHECKING:
    from lab.placing.judge import Lost
    from lab.records import ArmHistory, Reply

INJECTED, MET = "fault_injected", "fault_met"  # events, as the target tells them
COUNTED = ("met", "needed", "wrong", "placed", "wrong_unneeded")
WRITTEN = ("prefill", "decode", "both")


@dataclass(frozen=True)
class Met:
    """Damaged rows ``first`` to ``end`` of a reply's prompt; it had ``computed`` rows by then.
    ``brings`` is the first position of the rows that it found there instead; -1: of none.
    """

    damage: int
    how: str
    first: int
    end: int
    computed: int
    prefill: int
    decode: int
    brings: int

    @property
    def written(self) -> str:
        """Which kind of step had written these rows."""
        return WRITTEN[2] if self.prefill and self.decode else WRITTEN[bool(self.decode)]

    @property
    def said(self) -> str:
        """It, in one phrase."""
        by = {"prefill": self.prefill, "decode": self.decode}
        written = " and ".join(f"{n} by {step}" for step, n in by.items() if n)
        size = self.end - self.first - 1
        parts = [f"damage {self.damage} ({self.how}) to tokens {self.first:,} to {self.end - 1:,}"]
        parts += [f"written {written}"] if written else []
        parts += [f"rows of {self.brings:,} to {self.brings + size:,} there"] * (self.brings >= 0)
        return ", ".join(parts)

    def holds(self, lost: Lost) -> bool:
        """Whether what the reply lost is read from these rows, or where the rows there belong."""
        brought = range(self.brings, self.brings + self.end - self.first)
        damaged = [range(self.first, self.end), *([brought] if self.brings >= 0 else [])]
        reads = lost.reads(self.computed)
        return any(
            max(it.start, one.start) < min(it.stop, one.stop) for it in reads for one in damaged
        )


@dataclass(frozen=True)
class Hit:
    """A reply and what it met: whether it depends on that, came out wrong, and was placed there."""

    reply: Reply
    met: tuple[Met, ...]
    depends: tuple[Met, ...]
    wrong: bool
    found: bool


class Evidence:
    """What the fault of one arm did, by reply."""

    def __init__(self, history: ArmHistory) -> None:
        self._history, self._places = history, Places(history)
        self._shown = Conversations(history)

    def met_by(self, reply: Reply) -> list[Met]:
        """What a reply met, in the order in which it was told; engines lengthen a request's id."""
        told = [rows for name, rows in self._met.items() if _same(reply.request_id, name)]
        return [met for rows in told for met in rows]

    def hits(self) -> Iterator[Hit]:
        """Every finished reply that met damage, up to the first wrong one of its session."""
        wrong: set[int] = set()
        for reply in sorted(self._history.replies, key=lambda it: (it.session, it.turn)):
            if reply.status != "ok" or reply.session in wrong:
                continue
            if reply.raw_text != reply.expected_text:
                wrong.add(reply.session)
            if met := self.met_by(reply):
                yield self._hit(reply, met)

    def _hit(self, reply: Reply, met: Sequence[Met]) -> Hit:
        lost = self._places.lost(reply)
        depends = tuple(it for it in met if self._depends(reply, it))
        wrong = reply.raw_text != reply.expected_text
        return Hit(
            reply, tuple(met), depends, wrong, bool(lost and any(it.holds(lost) for it in met))
        )

    def _depends(self, reply: Reply, met: Met) -> bool:
        context = self._shown.prompt(reply)
        if context is None or met.first >= len(context.ids):
            return False
        text = Text(context.ids, ids_of(reply.expected_text))
        return text.depends(met.first, met.end, met.computed)

    @cached_property
    def _met(self) -> dict[str, list[Met]]:
        told = {it["damage"]: it for _, kind, it in self._history.events if kind == INJECTED}
        found: dict[str, list[Met]] = {}
        for _, kind, it in self._history.events:
            if kind == MET:
                found.setdefault(str(it["request"]), []).append(_met(it, told))
        return found


def counted(hits: Sequence[Hit]) -> dict[str, dict[str, int]]:
    """By how the rows were damaged and who wrote them: replies that met it; that needed them, were
    wrong and had their place there; that needed none of what they met, and were wrong all the same.
    """
    found: dict[str, dict[str, int]] = {}
    for hit in hits:
        for met in {(it.how, it.written): it for it in (hit.depends or hit.met)}.values():
            row = found.setdefault(
                f"{met.how}, written by {met.written}", dict.fromkeys(COUNTED, 0)
            )
            row["met"] += 1
            row["needed"] += bool(hit.depends)
            row["wrong"] += bool(hit.depends) and hit.wrong
            row["placed"] += bool(hit.depends) and hit.wrong and hit.found
            row["wrong_unneeded"] += not hit.depends and hit.wrong
    return dict(sorted(found.items()))


def _met(fields: Mapping[str, Any], told: Mapping[int, Mapping[str, Any]]) -> Met:
    numbers = {key: fields[key] for key in ("first", "end", "computed", "prefill", "decode")}
    damage = told.get(fields["met"], {})
    how, brings = damage.get("how", "unknown"), damage.get("brings", -1)
    return Met(damage=fields["met"], how=how, brings=brings, **numbers)


def _same(request: str | None, name: str) -> bool:
    return bool(request) and (name == request or name.startswith(f"{request}-"))
