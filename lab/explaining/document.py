"""An explanation as one JSON document. One rule: the same facts as the words, and the words too.

What nothing is known of is null, or an empty list; a key is there always.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from lab.explaining.reads import distance
from lab.explaining.words import said
from lab.explaining.writers import writer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.explaining.damage import Damage
    from lab.explaining.explanation import Explanation

ROW = {"read": "wrong_row", "write": "wrong_row", "copy": "wrong_row"}
LISTS = ("judges", "chain", "questions", "questions_of_other_rows", "said")
PLAIN = (
    *("run", "arm", "session", "turn", "request", "room", "kind", "judges", "found", "joined_by"),
    *("first_wrong_token", "tokens_before", "alike", "chain", "chain_is_sure", "questions"),
    *("which_question_is_sure", "questions_of_other_rows", "spread", "others", "said"),
)


def document(run: str, it: Explanation, others: int) -> dict[str, Any]:
    """``others`` are the sessions of the arm that failed likewise; the chain is root first."""
    reply = it.reply
    return _blank() | {
        "run": run,
        "arm": it.history.name,
        "session": reply.session,
        "turn": reply.turn,
        "request": it.request or None,
        "room": it.case.room,
        "kind": it.kind,
        "judges": [{"detector": f.detector, "detail": f.detail} for f in it.case.failed],
        "found": found(it),
        "joined_by": it.how,
        "first_wrong_token": asdict(it.wrong) if it.wrong else None,
        "tokens_before": distance(it),
        "alike": it.base._asdict() if it.base else None,
        "chain": [_link(link) for link in reversed(it.chain.links)] if it.chain else [],
        "chain_is_sure": it.chain.sure if it.chain else None,
        "questions": [asdict(each) for each in it.questions],
        "which_question_is_sure": len(it.questions) == 1 and not it.vague,
        "questions_of_other_rows": list(it.elsewhere),
        "spread": it.spread._asdict() if it.spread else None,
        "others": others,
        "said": said(it),
    }


def nothing(run: str, arm: str | None, session: int | None, lines: Sequence[str]) -> dict[str, Any]:
    """The same keys where no reply failed; ``lines`` say so."""
    known = {"run": run, "arm": arm, "session": session, "found": "nothing", "joined_by": "none"}
    return _blank() | known | {"others": 0, "which_question_is_sure": False, "said": list(lines)}


def found(it: Explanation) -> str:
    """What the evidence says: ``wrong_row``, another request's ``token``, a metadata ``slot``, or
    the kind of finding where no row, token or slot is known to be wrong.
    """
    if it.effect is None or it.how == "arm":
        return "nothing" if it.kind == "corrupt" else it.kind
    return ROW.get(it.effect.role, it.effect.role) if it.kind == "corrupt" else "fault"


def _blank() -> dict[str, Any]:
    return {key: [] if key in LISTS else None for key in PLAIN}


def _link(damage: Damage) -> dict[str, Any]:
    return {
        "name": damage.name,
        "at_ns": damage.at_ns,
        "role": damage.role,
        "writer_said": writer(damage),
        "fields": dict(damage.fields),
    }
