"""Where a replay stops: the event behind the session's wrong reply.

One rule: it is the one that `kvlab explain` joins to that reply; whatever else it stops at is said
to be no more than the first that was seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.concerned import Whose
from lab.detectors import Kind, worst
from lab.explaining import explained
from lab.joins import Turn

if TYPE_CHECKING:
    from lab.explaining import Explanation
    from lab.records import ArmHistory, Finding

WRONG = (Kind.CORRUPT, Kind.PARSER_FAULT)
UNJOINED = ("arm", "none")  # of an explanation: nothing says that the reply met the damage


@dataclass(frozen=True)
class Stop:
    """Where a replay ends: event ``number`` of the history, remarks counted, and whose it is."""

    number: int
    name: str | None  # the broken invariant's; None for a wrong reply
    turn: Turn | None
    session: int  # the one that was asked for
    wrong: int | None = None  # the turn of its wrong reply; None where none of them was
    how: str = ""  # how the event is joined to that reply, such as `read`; empty: it is not

    @property
    def joined(self) -> bool:
        """Whether the event names the session that was asked for."""
        return self.turn is not None and self.turn.session == self.session


def stop_of(history: ArmHistory, findings: Sequence[Finding], session: int) -> Stop:
    """What the session's wrong reply met; else the first broken invariant that concerns the
    session, else the first of the arm; without any, the wrong reply itself.
    """
    turns = wrong_turns(findings, session)
    found = explained(history, findings, session) if turns else None
    wrong = found.reply.turn if found and found.reply.turn in turns else next(iter(turns), None)
    if found and (met := _met(history, found)) is not None:
        number, how = met, found.how
    elif broken := violations(history, session) or violations(history):
        number, how = broken[0][0], ""
    else:
        number, how = _reply(history, session, wrong), ""
    _, kind, fields = history.events[number]
    if kind == "reply":
        return Stop(number, None, Turn(session, fields["turn"]), session, wrong)
    return Stop(number, str(fields["name"]), Whose(history).turn(fields), session, wrong, how)


def wrong_turns(findings: Sequence[Finding], session: int) -> list[int]:
    """The turns of a session whose reply is surely wrong, in order."""
    return sorted(
        {
            it.turn
            for it in findings
            if it.session == session and any(worst([it], kind) for kind in WRONG)
        }
    )


def violations(history: ArmHistory, session: int | None = None) -> list[tuple[int, Turn | None]]:
    """The broken invariants that concern a session, or all; their numbers and whose they are."""
    whose = Whose(history)
    found = [
        (number, whose.turn(fields))
        for number, (_, kind, fields) in enumerate(history.events)
        if kind == "violation"
    ]
    if session is None:
        return found
    return [(number, turn) for number, turn in found if turn and turn.session == session]


def _met(history: ArmHistory, found: Explanation) -> int | None:
    """The number of the violation that the explained reply is joined to."""
    effect = found.effect
    if effect is None or found.how in UNJOINED:
        return None
    return effect.order if history.events[effect.order][1] == "violation" else None


def _reply(history: ArmHistory, session: int, turn: int | None) -> int:
    """The number of the event of a reply."""
    return next(
        number
        for number, (_, kind, fields) in enumerate(history.events)
        if kind == "reply" and (fields["session"], fields["turn"]) == (session, turn)
    )
