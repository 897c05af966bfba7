"""Why one reply is wrong, as it is put together. One rule: facts only; words are made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.explaining.baseline import Base
    from lab.explaining.chain import Chain
    from lab.explaining.damage import Damage
    from lab.explaining.divergence import Divergence
    from lab.explaining.seams import Question
    from lab.explaining.spread import Spread
    from lab.records import ArmHistory, Finding, Reply
    from lab.report.replies import Case


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
    elsewhere: tuple[str, ...]  # seams that only other rows point at that it read
    base: Base | None  # of replies that read a row wrong in the same way
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
