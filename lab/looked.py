"""What the detectors see in one arm. One rule: a reply counts once, and corrupt before missed.

A session is judged where one of its replies came whole, or shows a failure all the same: of the
others nothing is known, and they are in no rate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from lab.detectors import Kind, examine, named, place_of
from lab.detectors.surface import finished, whole
from lab.placing.judge import located
from lab.planned import context_of, first_replies

if TYPE_CHECKING:
    from lab.detectors import Place
    from lab.records import ArmHistory, Finding


@dataclass(frozen=True)
class Looked:
    """An arm, the arm that must have the same history, and every finding on its replies."""

    history: ArmHistory
    twin: ArmHistory | None
    findings: list[Finding]

    @cached_property
    def corrupt(self) -> dict[Place, Finding]:
        """The replies that are surely wrong, each under its most telling finding."""
        return named(self.findings, Kind.CORRUPT)

    @cached_property
    def missed(self) -> dict[Place, Finding]:
        """The other replies in which the model, or what served it, missed what was due."""
        found = named(self.findings, Kind.MISSED)
        return {place: it for place, it in found.items() if place not in self.corrupt}

    @cached_property
    def sessions_missed(self) -> frozenset[int]:
        """The sessions in which it did, without those that are corrupt."""
        return frozenset(sessions(self.missed) - sessions(self.corrupt))

    @cached_property
    def owed(self) -> frozenset[int]:
        """The sessions that were owed a reply."""
        return frozenset(reply.session for reply in self.history.replies if reply.due)

    @cached_property
    def judged(self) -> frozenset[int]:
        """Of these the ones that show anything: the n of every rate."""
        came = {it.session for it in self.history.replies if it.due and finished(it)}
        return frozenset(came | sessions(self.corrupt) | sessions(self.missed))

    @property
    def texts_known(self) -> bool:
        """Whether any reply's text was known before it was asked for."""
        return any(reply.expected_text for reply in self.history.replies)

    def unfinished(self) -> set[Place]:
        """The replies that did not come whole."""
        return {place_of(it) for it in self.findings if it.kind == Kind.UNFINISHED.value}


def look(history: ArmHistory, twin: ArmHistory | None) -> Looked:
    """Every detector on every reply of the arm."""
    texts = (
        {(r.session, r.turn): whole(r) for r in twin.replies if r.status == "ok"} if twin else {}
    )
    context = context_of(history.events, texts | first_replies(history))
    findings = [found for reply in history.replies for found in examine(reply, context)]
    return Looked(history, twin, located(history, findings))


def by_detector(replies: Mapping[Place, Finding]) -> dict[str, int]:
    """How many replies are counted under each detector, the most frequent first."""
    return dict(Counter(found.detector for found in replies.values()).most_common())


def sessions(replies: Iterable[Place]) -> set[int]:
    """The sessions of replies."""
    return {session for session, _ in replies}
