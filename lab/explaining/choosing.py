"""One bad reply explained, and which one to explain. One rule: nothing is run again.

Where no session is named it is the one whose evidence is most complete, and of these the worst.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.detectors import Kind
from lab.explaining.chain import Chain, chain_of
from lab.explaining.divergence import Divergence, first_wrong
from lab.explaining.evidence import JOINS, Evidence
from lab.explaining.seams import Question, facts_of, question, rule_of
from lab.explaining.spread import Spread, spread_of
from lab.report.replies import Case, badness, failed_replies

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lab.explaining.damage import Damage
    from lab.records import ArmHistory, Finding, Reply

GRAVEST = (Kind.CORRUPT, Kind.PARSER_FAULT, Kind.NONDETERMINISTIC, Kind.UNFINISHED)
NOT_FOUND = "none"


@dataclass(frozen=True)
class Explanation:
    """One reply: what is wrong with it, the damage that it met, and how that came about."""

    history: ArmHistory
    case: Case
    kind: str  # of its gravest finding
    request: int  # 0: not known
    wrong: Divergence | None
    reached_ns: int | None  # when the first wrong token was there, at the latest
    how: str  # one of ``evidence.JOINS``, or ``none``
    reads: tuple[Damage, ...]  # of wrong rows, by this reply, up to its first wrong token
    chain: Chain | None
    questions: tuple[Question, ...]  # the first is the one, where there are several
    vague: bool  # the evidence cannot tell which of them
    spread: Spread | None

    @property
    def reply(self) -> Reply:
        """The reply that is explained."""
        return self.case.reply

    @property
    def effect(self) -> Damage | None:
        """The damage that the reply met."""
        return self.chain.links[0] if self.chain else None

    @property
    def root(self) -> Damage | None:
        """What it came from."""
        return self.chain.links[-1] if self.chain else None

    @property
    def finding(self) -> Finding:
        """The first judge that fired, of the gravest kind."""
        return next(found for found in self.case.failed if found.kind == self.kind)


def explained(history: ArmHistory, findings: Sequence[Finding], session: int) -> Explanation | None:
    """Why the session's first reply of its gravest kind failed; None where none of it did."""
    return next((it for it in explanations(history, findings) if it.reply.session == session), None)


def explanations(history: ArmHistory, findings: Sequence[Finding]) -> Iterator[Explanation]:
    """One for each session of which a judge failed a reply, by session."""
    evidence = Evidence(history)
    sessions: defaultdict[int, list[Case]] = defaultdict(list)
    for case in failed_replies(history, findings):
        sessions[case.reply.session].append(case)
    for session in sorted(sessions):
        yield _explain(evidence, *_gravest(sessions[session]))


def best(found: Sequence[Explanation]) -> Explanation | None:
    """The one to show of many: corrupt first, then the strongest evidence, then the worst."""
    return min(found, key=_rank, default=None)


def _rank(it: Explanation) -> tuple[int, int, int, tuple[bool, int, int, int]]:
    kinds = [kind.value for kind in GRAVEST]
    joins = (*JOINS, NOT_FOUND)
    questions = 2 if not it.questions else int(it.vague)
    return kinds.index(it.kind), joins.index(it.how), questions, badness(it.case)


def _gravest(cases: Sequence[Case]) -> tuple[Case, str]:
    """A session's first reply of the gravest kind of finding, and the kind."""
    for kind in GRAVEST:
        hit = [it for it in cases if any(found.kind == kind.value for found in it.failed)]
        if hit:
            return min(hit, key=lambda it: it.reply.turn), kind.value
    return cases[0], cases[0].failed[0].kind


def _explain(evidence: Evidence, case: Case, kind: str) -> Explanation:
    history, reply = evidence.history, case.reply
    wrong, request = first_wrong(reply), evidence.request_of(reply)
    met = evidence.met(reply, wrong) if kind == Kind.CORRUPT.value else evidence.failed(reply)
    chain = chain_of(met.damage, evidence.damages) if met.damage else None
    rule = rule_of([*reversed(met.reads), *chain.links], facts_of(history)) if chain else None
    return Explanation(
        history=history,
        case=case,
        kind=kind,
        request=request,
        wrong=wrong,
        reached_ns=evidence.timeline.heard_ns(reply, request, wrong.index) if wrong else None,
        how=met.how,
        reads=met.reads,
        chain=chain,
        questions=tuple(question(seam) for seam in rule.seams) if rule else (),
        vague=rule.vague if rule else False,
        spread=spread_of(chain.links[-1], request, evidence) if chain else None,
    )
