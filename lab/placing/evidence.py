"""What the fault of a build says that it damaged, beside what became of the replies.

One rule: a fault's own words are held against the replies, never taken for a verdict. A reply
*depends* on damaged rows where one of its tokens has no source but in them, or reads its window
there; it *is doubled* by rows that lie there instead where it looks, by their distance, at the
positions that these rows keep, and finds two. The place of its first wrong token *is found* where
what that token is made of is read from either.

Rows that a session computes after it met a damage are read through it. Blocks that exchange what
they hold within one table are no damage to it: rows keep their positions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lab.placing.judge import Places, ids_of
from lab.placing.places import Text
from lab.placing.shown import Conversations

if TYPE_CHECKING:
    from lab.placing.judge import Lost
    from lab.records import ArmHistory, Reply

INJECTED, MET = "fault_injected", "fault_met"  # events, as the target tells them
COUNTED = ("met", "needed", "wrong", "placed", "doubled", "wrong_doubled", "wrong_unneeded")
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

    @property
    def brought(self) -> list[range]:
        """The positions that the rows there keep."""
        return [range(self.brings, self.brings + self.end - self.first)] * (self.brings >= 0)

    def lost_by(self, text: Text) -> bool:
        """Whether the reply needs what was in these rows."""
        return text.depends(self.first, self.end, self.computed)

    def doubles(self, text: Text) -> bool:
        """Whether the reply looks at a position that has a second row here."""
        return any(text.looks_at(it.start, it.stop, self.computed) for it in self.brought)

    def holds(self, lost: Lost) -> bool:
        """Whether what the reply lost is read from these rows, or where the rows there belong."""
        damaged = [range(self.first, self.end), *self.brought]
        reads = lost.reads(self.computed)
        return any(
            max(it.start, one.start) < min(it.stop, one.stop) for it in reads for one in damaged
        )


@dataclass(frozen=True)
class Hit:
    """A reply and what it met: whether it depends on that, is doubled by it and does not, came out
    wrong, and was placed there.
    """

    reply: Reply
    met: tuple[Met, ...]
    depends: tuple[Met, ...]
    doubled: bool
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
        first: dict[tuple[int, int], int] = {}  # rows that the session had when it met the damage
        for reply in sorted(self._history.replies, key=lambda it: (it.session, it.turn)):
            if reply.status != "ok" or reply.session in wrong:
                continue
            if reply.raw_text != reply.expected_text:
                wrong.add(reply.session)
            met = []
            for it in self.met_by(reply):
                had = first.setdefault((reply.session, it.damage), it.computed)
                met.append(replace(it, computed=min(it.computed, had)))
            if met:
                yield self._hit(reply, met)

    def _hit(self, reply: Reply, met: Sequence[Met]) -> Hit:
        lost, context = self._places.lost(reply), self._shown.prompt(reply)
        wrong = reply.raw_text != reply.expected_text
        found = bool(lost and any(it.holds(lost) for it in met))
        if context is None:
            return Hit(reply, tuple(met), (), False, wrong, found)
        text, table = Text(context.ids, ids_of(reply.expected_text)), {it.damage for it in met}
        apart = [it for it in met if self._partners.get(it.damage) not in table]
        depends = tuple(it for it in apart if it.first < text.prompt and it.lost_by(text))
        doubled = not depends and any(it.doubles(text) for it in apart)
        return Hit(reply, tuple(met), depends, doubled, wrong, found)

    @cached_property
    def _partners(self) -> dict[int, int]:
        """Of two damages that exchanged two blocks, each one's other."""
        told = [it for _, kind, it in self._history.events if kind == INJECTED and "other" in it]
        ends = {(it["step"], it["block_id"], it["other"]): it["damage"] for it in told}
        pairs = ((damage, ends.get((step, to, of))) for (step, of, to), damage in ends.items())
        return {one: other for one, other in pairs if other is not None}

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
    wrong and had their place there; that needed none but were doubled, and wrong; and those that
    were wrong with neither.
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
            row["doubled"] += hit.doubled
            row["wrong_doubled"] += hit.doubled and hit.wrong
            row["wrong_unneeded"] += hit.wrong and not (hit.depends or hit.doubled)
    return dict(sorted(found.items()))


def _met(fields: Mapping[str, Any], told: Mapping[int, Mapping[str, Any]]) -> Met:
    numbers = {key: fields[key] for key in ("first", "end", "computed", "prefill", "decode")}
    damage = told.get(fields["met"], {})
    how, brings = damage.get("how", "unknown"), damage.get("brings", -1)
    return Met(damage=fields["met"], how=how, brings=brings, **numbers)


def _same(request: str | None, name: str) -> bool:
    return bool(request) and (name == request or name.startswith(f"{request}-"))
