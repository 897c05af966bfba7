"""One bad reply explained, and which one to explain. One rule: nothing is run again.

Where no session is named it is the one whose evidence is most complete, and of these the worst.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from lab.detectors import Kind
from lab.explaining.baseline import base_of, chance, right_replies
from lab.explaining.chain import chain_of
from lab.explaining.divergence import first_wrong
from lab.explaining.evidence import JOINS, Evidence
from lab.explaining.explanation import Explanation
from lab.explaining.seams import facts_of, question, rule_of
from lab.explaining.spread import spread_of
from lab.report.replies import Case, badness, failed_replies

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lab.explaining.baseline import Chance
    from lab.explaining.evidence import Met
    from lab.explaining.seams import Facts
    from lab.records import ArmHistory, Finding, Reply

GRAVEST = tuple(
    kind.value
    for kind in (
        *(Kind.CORRUPT, Kind.PARSER_FAULT, Kind.NONDETERMINISTIC, Kind.MISSED),
        Kind.UNFINISHED,
    )
)
NOT_FOUND = "none"


class Inquiry:
    """The sessions of one arm of which a judge failed a reply; each is explained when asked for."""

    def __init__(self, history: ArmHistory, findings: Sequence[Finding]) -> None:
        self.history, self._findings = history, findings

    @cached_property
    def failed(self) -> Mapping[int, tuple[Case, str]]:
        """Of each such session its first reply of the gravest kind of finding, and the kind."""
        sessions: defaultdict[int, list[Case]] = defaultdict(list)
        for case in failed_replies(self.history, self._findings):
            sessions[case.reply.session].append(case)
        return {session: _gravest(sessions[session]) for session in sorted(sessions)}

    def of_kind(self, kind: str) -> list[int]:
        """The sessions of which that is the gravest kind."""
        return [session for session, (_, its) in self.failed.items() if its == kind]

    def explain(self, session: int) -> Explanation:
        """Why that session failed; raises ``KeyError`` where it did not."""
        case, kind = self.failed[session]
        return self._explain(case, kind)

    def explanations(self) -> list[Explanation]:
        """Of every one, by session."""
        return [self.explain(session) for session in self.failed]

    def chance(self, found: Iterable[Explanation]) -> Chance | None:
        """In what share damage would be joined to right replies at the same tokens."""
        return chance([it.wrong.index for it in found if it.wrong], self._evidence, self._right)

    def met_by(self, session: int) -> list[tuple[int, str]]:
        """The turns of a session that violations name, and their names, whatever came of it."""
        mine = [it for it in self.history.replies if it.session == session]
        turns = {self._evidence.request_of(it): it.turn for it in mine}
        met = ((by, it.name) for it in self._evidence.damages for by in it.hurt)
        named = dict.fromkeys((turns[by], name) for by, name in met if by in turns)
        return sorted(named, key=lambda each: each[0])

    @cached_property
    def _evidence(self) -> Evidence:
        return Evidence(self.history)

    @cached_property
    def _right(self) -> list[Reply]:
        return right_replies(self.history, self._findings)

    def _explain(self, case: Case, kind: str) -> Explanation:
        evidence, reply = self._evidence, case.reply
        wrong, request = first_wrong(reply), evidence.request_of(reply)
        met = evidence.met(reply, wrong) if kind == Kind.CORRUPT.value else evidence.failed(reply)
        chain = chain_of(met.damage, evidence.damages) if met.damage else None
        facts = facts_of(self.history)
        rule = rule_of(chain.links, facts) if chain else None
        seams, read = rule.seams if rule else (), met.how == "read" and met.damage
        return Explanation(
            history=self.history,
            case=case,
            kind=kind,
            request=request,
            wrong=wrong,
            reached_ns=evidence.timeline.heard_ns(reply, request, wrong.index) if wrong else None,
            how=met.how,
            reads=met.reads,
            chain=chain,
            questions=tuple(question(seam) for seam in seams),
            vague=rule.vague if rule else False,
            elsewhere=_elsewhere(met, facts, seams),
            base=base_of(read, evidence, self._right) if read else None,
            spread=spread_of(chain.links, request, evidence) if chain else None,
        )


def explained(history: ArmHistory, findings: Sequence[Finding], session: int) -> Explanation | None:
    """Why the session's first reply of its gravest kind failed; None where none of it did."""
    inquiry = Inquiry(history, findings)
    return inquiry.explain(session) if session in inquiry.failed else None


def explanations(history: ArmHistory, findings: Sequence[Finding]) -> list[Explanation]:
    """One for each session of which a judge failed a reply, by session."""
    return Inquiry(history, findings).explanations()


def gravest(inquiries: Iterable[Inquiry]) -> list[Explanation]:
    """Of the sessions that failed in some arms those of the gravest kind that is there."""
    arms = list(inquiries)
    for kind in GRAVEST:
        if found := [arm.explain(session) for arm in arms for session in arm.of_kind(kind)]:
            return found
    return []


def best(found: Iterable[Explanation]) -> Explanation | None:
    """The one to show of many: corrupt first, then the strongest evidence, then the worst."""
    return min(found, key=_rank, default=None)


def _rank(it: Explanation) -> tuple[int, int, int, tuple[bool, int, int, int]]:
    joins = (*JOINS, NOT_FOUND)
    questions = 2 if not it.questions else int(it.vague)
    return GRAVEST.index(it.kind), joins.index(it.how), questions, badness(it.case)


def _elsewhere(met: Met, facts: Facts, seams: Sequence[str]) -> tuple[str, ...]:
    """The seams that reads of other pages surely point at, and ``seams`` are not."""
    if met.damage is None:
        return ()
    place = [met.damage.text(key) for key in ("pool", "page")]
    others = [it for it in met.reads if [it.text(key) for key in ("pool", "page")] != place]
    rules = [rule for it in others if (rule := rule_of([it], facts)) and not rule.vague]
    return tuple(dict.fromkeys(seam for it in rules for seam in it.seams if seam not in seams))


def _gravest(cases: Sequence[Case]) -> tuple[Case, str]:
    """A session's first reply of the gravest kind of finding, and the kind."""
    for kind in GRAVEST:
        hit = [it for it in cases if any(found.kind == kind for found in it.failed)]
        if hit:
            return min(hit, key=lambda it: it.reply.turn), kind
    return cases[0], cases[0].failed[0].kind
