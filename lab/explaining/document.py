"""An explanation as one JSON document. One rule: the same facts as the words, and the words too."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from lab.explaining.words import said
from lab.explaining.writers import writer

if TYPE_CHECKING:
    from lab.explaining.choosing import Explanation
    from lab.explaining.damage import Damage

ROW = {"read": "wrong_row", "write": "wrong_row", "copy": "wrong_row"}


def document(run: str, it: Explanation, others: int) -> dict[str, Any]:
    """``others`` are the sessions of the arm that failed likewise."""
    reply, effect = it.reply, it.effect
    return {
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
        "read": _link(effect) if effect else None,
        "chain": [_link(link) for link in reversed(it.chain.links)] if it.chain else [],
        "chain_is_sure": it.chain.sure if it.chain else None,
        "questions": [asdict(each) for each in it.questions],
        "which_question_is_sure": bool(it.questions) and not it.vague,
        "spread": it.spread._asdict() if it.spread else None,
        "others": others,
        "said": said(it),
    }


def found(it: Explanation) -> str:
    """What the evidence says: ``wrong_row``, another request's ``token``, a metadata ``slot``, or
    the kind of finding where no row, token or slot is known to be wrong.
    """
    if it.effect is None or it.how == "arm":
        return "nothing" if it.kind == "corrupt" else it.kind
    return ROW.get(it.effect.role, it.effect.role) if it.kind == "corrupt" else "fault"


def _link(damage: Damage) -> dict[str, Any]:
    return {
        "name": damage.name,
        "at_ns": damage.at_ns,
        "role": damage.role,
        "writer_said": writer(damage),
        "fields": dict(damage.fields),
    }
