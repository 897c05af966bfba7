"""Every corrupt session of an arm in a line. One rule: no share without that of right replies.

Damage counts where it is joined to the reply; right replies are asked at the same tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.detectors import Kind
from lab.explaining.evidence import JOINED
from lab.explaining.reads import distance
from lab.explaining.writers import seconds
from lab.report.words import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.explaining.baseline import Chance
    from lab.explaining.explanation import Explanation


def lines(found: Sequence[Explanation], random: Chance | None) -> list[str]:
    """A line a corrupt session, and last the sum; ``random`` as of `Inquiry.chance`."""
    corrupt = corrupt_of(found)
    told = [line(it) for it in corrupt]
    if len(corrupt) < len(found):
        others = len(found) - len(corrupt)
        many = "sessions failed otherwise than by their text"
        one = "session failed otherwise than by its text"
        told.append(f"{others} more {one if others == 1 else many}.")
    return [*told, total(corrupt, random)]


def line(it: Explanation) -> str:
    """Session, turn, first wrong token, and the damage at or before it."""
    token = f"token {it.wrong.index}" if it.wrong else "no wrong token"
    where = f"session {it.reply.session} turn {it.reply.turn}, {token}"
    if it.effect is None:
        return f"{where}: none"
    what = f"{it.effect.name} at {seconds(it.effect.at_ns)}"
    if it.how not in JOINED:
        return f"{where}: none that is joined to it; the arm's first is {what}"
    seams = " or ".join(each.seam for each in it.questions) or "unknown"
    return f"{where}: {what} (by {it.how}{_far(it)}); {seams}"


def total(corrupt: Sequence[Explanation], random: Chance | None) -> str:
    """``damage is joined to 9 of 10 corrupt sessions (90 %) ...``, and what that is worth."""
    if not corrupt:
        return "no session is corrupt."
    n, read = _joined(corrupt)
    of = f"{n} of {len(corrupt)} corrupt sessions ({percent(n / len(corrupt))})"
    by = f", to {read} by a read," if n else ""
    told = f"damage is joined to {of}{by} at or before the first wrong token"
    if random is None:
        return f"{told}. What random places would give is not known: no reply is right and as long."
    which = "1 right reply" if random.replies == 1 else f"{random.replies:,} right replies"
    shares = f"{percent(random.joined)} by any join, {percent(random.read)} by a read"
    return f"{told} ({which} asked at the same tokens: {shares})."


def counted(found: Sequence[Explanation], random: Chance | None) -> dict[str, Any]:
    """Corrupt sessions, those to which damage is joined, the share, and those of random places."""
    corrupt = corrupt_of(found)
    n, read = _joined(corrupt)
    return {
        "corrupt": len(corrupt),
        "joined": n,
        "joined_by_read": read,
        "share": n / len(corrupt) if corrupt else None,
        "random_replies": random.replies if random else 0,
        "random_share": random.joined if random else None,
        "random_share_by_read": random.read if random else None,
    }


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
            "tokens_before": distance(it),
            "joined": it.how in JOINED,
            "questions": [each.seam for each in it.questions],
        }
        for it in corrupt_of(found)
    ]


def corrupt_of(found: Sequence[Explanation]) -> list[Explanation]:
    """Those whose text is wrong."""
    return [it for it in found if it.kind == Kind.CORRUPT.value]


def _joined(corrupt: Sequence[Explanation]) -> tuple[int, int]:
    """To how many damage is joined, and to how many of them by a read."""
    return sum(it.how in JOINED for it in corrupt), sum(it.how == "read" for it in corrupt)


def _far(it: Explanation) -> str:
    far = distance(it)
    if far is None:
        return ""
    return f", {far:,} {'token' if far == 1 else 'tokens'} before"
