"""Every corrupt session of a run in a line. One rule: damage counts as found where it is joined to
the session; what the arm saw besides is said, and not counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.detectors import Kind
from lab.explaining.evidence import PROVEN
from lab.explaining.writers import seconds
from lab.report.words import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.explaining.choosing import Explanation


def lines(found: Sequence[Explanation]) -> list[str]:
    """A line a corrupt session, and last the sum."""
    corrupt = _corrupt(found)
    told = [line(it) for it in corrupt]
    if len(corrupt) < len(found):
        others = len(found) - len(corrupt)
        many = "sessions failed otherwise than by their text"
        one = "session failed otherwise than by its text"
        told.append(f"{others} more {one if others == 1 else many}.")
    return [*told, total(corrupt)]


def line(it: Explanation) -> str:
    """Session, turn, first wrong token, and the damage at or before it."""
    token = f"token {it.wrong.index}" if it.wrong else "no wrong token"
    where = f"session {it.reply.session} turn {it.reply.turn}, {token}"
    if it.effect is None:
        return f"{where}: none"
    what = f"{it.effect.name} at {seconds(it.effect.at_ns)}"
    if it.how not in PROVEN:
        return f"{where}: none that is joined to it; the arm's first is {what}"
    seams = " or ".join(each.seam for each in it.questions) or "unknown"
    return f"{where}: {what} (by {it.how}); {seams}"


def total(corrupt: Sequence[Explanation]) -> str:
    """``the ledger found the damage at or before the first wrong token in 9 of 10 ...``."""
    if not corrupt:
        return "no session is corrupt."
    n = sum(it.how in PROVEN for it in corrupt)
    of = f"{n} of {len(corrupt)} corrupt sessions ({percent(n / len(corrupt))})"
    return f"the ledger found the damage at or before the first wrong token in {of}."


def counted(found: Sequence[Explanation]) -> dict[str, Any]:
    """Corrupt sessions, those with their damage found, and the share."""
    corrupt = _corrupt(found)
    n = sum(it.how in PROVEN for it in corrupt)
    return {"corrupt": len(corrupt), "found": n, "share": n / len(corrupt) if corrupt else None}


def rows(found: Sequence[Explanation]) -> list[dict[str, Any]]:
    """The same as rows of a document."""
    return [
        {
            "session": it.reply.session,
            "turn": it.reply.turn,
            "first_wrong_token": it.wrong.index if it.wrong else None,
            "damage": it.effect.name if it.effect else None,
            "at_ns": it.effect.at_ns if it.effect else None,
            "joined_by": it.how,
            "found": it.how in PROVEN,
            "questions": [each.seam for each in it.questions],
        }
        for it in _corrupt(found)
    ]


def _corrupt(found: Sequence[Explanation]) -> list[Explanation]:
    return [it for it in found if it.kind == Kind.CORRUPT.value]
