"""All detectors on one reply. One rule: the expected text exonerates the model, nothing else does.

Where the raw text is the expected one, a corruption detector that would fire is looking at the
parser's work, so only the others are asked. A reply that its limit, or the server, cut while it was
still right is unfinished, not corrupt.

A stranger's model whose questions are asked again has its own first reply for an oracle: what is
odd about that is the model's own, and a different one is nondeterminism. There only another
session's words are proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from lab.detectors.base import DETECTORS, Context, Detector, Kind
from lab.detectors.surface import text_known, was_cut

if TYPE_CHECKING:
    from lab.records import Finding, Reply


Place = tuple[int, int]  # session, turn
PROOF = 20  # ranks below: bytes of somebody else


def examine(reply: Reply, context: Context) -> list[Finding]:
    """Every finding on one reply, most telling first; none where nothing was due."""
    if not reply.due:
        return []
    found = [look(reply, context) for look in ranked() if _applies(look, reply, context)]
    return [finding for finding in found if finding is not None]


def worst(findings: Sequence[Finding], kind: Kind) -> Finding | None:
    """The finding of ``kind`` under which a reply is counted: the first that is sure."""
    sure = [f for f in findings if f.kind == kind.value and f.outcome == "fail"]
    return sure[0] if sure else None


def named(findings: Sequence[Finding], kind: Kind) -> dict[Place, Finding]:
    """For each reply with a sure finding of ``kind``, the one under which it is counted."""
    firsts = {place: worst(list(of), kind) for place, of in groupby(findings, key=place_of)}
    return {place: found for place, found in firsts.items() if found is not None}


def place_of(found: Finding) -> Place:
    """The reply that a finding is of."""
    return found.session, found.turn


def ranked() -> list[Detector]:
    """All detectors by rank."""
    return sorted(DETECTORS.all().values(), key=lambda found: (found.rank, found.name))


def as_expected(reply: Reply) -> bool:
    """Whether the raw text is known and is what was expected, or the cut start of it."""
    if reply.raw_text is None or not reply.expected_text:
        return False
    return reply.raw_text == reply.expected_text or cut_short(reply)


def cut_short(reply: Reply) -> bool:
    """Whether ``max_tokens``, or the server's abort, ended a reply that was right so far."""
    raw = reply.raw_text
    return was_cut(reply) and raw is not None and _starts(reply, raw)


def _starts(reply: Reply, raw: str) -> bool:
    return len(raw) < len(reply.expected_text) and reply.expected_text.startswith(raw)


def _applies(look: Detector, reply: Reply, context: Context) -> bool:
    if look.kind is Kind.UNFINISHED:
        return True
    if reply.status != "ok":
        return False
    if look.kind is not Kind.CORRUPT:
        return True
    if reply.session in context.asked_again and not text_known(reply):
        return look.rank < PROOF
    return not as_expected(reply)
