"""Where to look when no wrong row was read. One rule: the judge that fired is named, and what its
evidence rules out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.detectors import Kind
from lab.explaining.writers import seconds
from lab.exposure import is_foreign
from lab.placing.judge import Places

if TYPE_CHECKING:
    from lab.explaining.damage import Damage
    from lab.explaining.explanation import Explanation

MISSED = (
    "Nobody knows what this model had to say, and a healthy one may miss as much: what counts is "
    "how often, beside an arm at concurrency 1."
)


def no_wrong_row(it: Explanation) -> list[str]:
    """The judge, and what its evidence points at."""
    judge = f"{it.finding.detector} fired: {it.finding.detail}."
    if it.kind == Kind.PARSER_FAULT.value:
        which = "is right and" if it.reply.expected_text else "may be right: it"
        return [judge, f"The raw text {which} was parsed otherwise: look at the parser."]
    if it.kind == Kind.NONDETERMINISTIC.value:
        return [judge, _drifted(it)]
    if it.kind == Kind.MISSED.value:
        return [judge, MISSED]
    if it.kind == Kind.UNFINISHED.value:
        return [judge, *_on_its_way(it)]
    effect = it.effect
    if effect is not None and effect.role == "token":
        return [judge, *_token(it, effect)]
    if effect is not None and effect.role == "slot":
        return [judge, *_slot(effect)]
    return [judge, *_unseen(it)]


def _drifted(it: Explanation) -> str:
    if is_foreign(it.history):
        return (
            "The same question was answered otherwise, and nobody knows which answer is right: "
            "sums in another order, or another's rows. An arm without the suspect tells them apart."
        )
    return (
        "An arm of equal seed and configuration said something else: look for what is not ordered "
        "by the clock or the seed."
    )


def _token(it: Explanation, effect: Damage) -> list[str]:
    request, owner, row = (effect.number(key) for key in ("request", "owner", "row"))
    whose = f"request {request} was given" if request else "nobody was given"
    which = "this reply's own token" if it.request == owner else "another reply's token"
    return [
        f"At {seconds(effect.at_ns)} {whose} the token of row {row} that was sampled for request "
        f"{owner}: {which}. The rows are right, the token went to another ({effect.name}).",
    ]


def _slot(effect: Damage) -> list[str]:
    return [
        f"At {seconds(effect.at_ns)} room {effect.number('room')} took the first token "
        f"{effect.number('token')} from a metadata slot that still held room "
        f"{effect.number('tag')}'s. Its pages are right, the slot was another's ({effect.name}).",
    ]


def _on_its_way(it: Explanation) -> list[str]:
    told = [
        f"The exchange ended as {it.reply.status}"
        + (f": {it.reply.error}." if it.reply.error else ".")
    ]
    if it.effect is None:
        return [
            *told,
            "No fault of the engine is recorded: look at the client, its patience "
            "and the transport.",
        ]
    of = "of its own room" if it.how == "own" else "of the arm, the last before its end"
    return [*told, f"The engine's fault {of}: {it.effect.name} at {seconds(it.effect.at_ns)}."]


def _unseen(it: Explanation) -> list[str]:
    """A wrong text without any damage that the reply met."""
    level = it.history.settings.get("ledger")
    if it.history.settings and level == "off":
        return ["The ledger was off: run it again with engine.ledger=tags, or full."]
    if it.reply.raw_text is None:
        return ["The server gave no raw text, so a parser fault cannot be told from a wrong token."]
    if is_foreign(it.history):
        told = "The server is a process of its own and tells no rows: what was read is not known"
        place = Places(it.history).lost(it.reply) is not None
        return [f"{told}{', what should have been read is' if place else ''}."]
    if not it.history.events:
        return ["The target told no events: nothing is known of its rows."]
    more = (
        "" if level == "full" else ", or run it again with engine.ledger=full, which looks at bytes"
    )
    return [
        "The text is wrong and the ledger tells of no wrong row that this reply read: look at what "
        f"computes (a kernel, nondeterminism){more}.",
    ]
