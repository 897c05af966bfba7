"""What `kvlab explain` answers, for a person and as a document. One rule: it reads a stored run.

A command that is offered is whole: with the run, the database and the arm that it needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from shlex import quote
from typing import TYPE_CHECKING, Any

from lab.errors import StoreError, UserError
from lab.explaining import summary
from lab.explaining.choosing import Inquiry, best, gravest
from lab.explaining.document import document, nothing
from lab.explaining.lines import Command, Lines
from lab.explaining.words import INDENT, said
from lab.scenario.problem import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lab.explaining.explanation import Explanation
    from lab.records import RunVerdict
    from lab.store import Results, StoredRun


@dataclass(frozen=True)
class Asked:
    """A run, an arm of it or all, and a session or the most telling one."""

    run: StoredRun
    verdict: RunVerdict
    where: str  # what a command needs to find the database
    arms: Mapping[str, Inquiry]
    session: int | None = None

    @cached_property
    def answer(self) -> Explanation | None:
        """Of a session, of the first arm in which it failed; without one the most telling."""
        if self.session is None:
            return best(gravest(self.arms.values()))
        failed = (arm for arm in self.arms.values() if self.session in arm.failed)
        return next((arm.explain(self.session) for arm in failed), None)

    @property
    def alike(self) -> list[int]:
        """The other sessions of the answer's arm that failed in the same way."""
        it = self.answer
        found = self.arms[it.history.name].of_kind(it.kind) if it else []
        return [session for session in found if it and session != it.reply.session]

    def command(self, arm: str, more: str) -> Command:
        """`kvlab explain` of this run, and of an arm where there are several."""
        which = f" --arm {quote(arm)}" if len(self.run.arms) > 1 else ""
        return Command(f"{INDENT}kvlab explain {self.run.id}{self.where}{which} {more}".rstrip())


def ask(results: Results, run: str, arm: str | None, session: int | None) -> Asked:
    """Read what the answer takes; raises ``StoreError``, or ``UserError`` for no such session."""
    stored, verdict = results.run(run), results.verdict(run)  # says so if nobody has judged it
    if arm is not None and arm not in stored.arms:
        accepted = ", ".join(repr(name) for name in stored.arms)
        raise StoreError(
            f"--arm {arm}: no such arm; accepted: {accepted}{did_you_mean(arm, stored.arms)}"
        )
    findings = results.findings(run)
    histories = results.histories(run, arm)
    sessions = sorted({it.session for history in histories for it in history.replies})
    if session is not None and session not in sessions:
        accepted = f"{sessions[0]} to {sessions[-1]}" if sessions else "none"
        raise UserError(f"--session {session}: no such session in run {run}; accepted: {accepted}")
    arms = {it.name: Inquiry(it, findings.get(it.name, ())) for it in histories}
    return Asked(stored, verdict, results.where, arms, session)


def explain_report(asked: Asked) -> Lines:
    """Why one reply of the run is wrong."""
    it = asked.answer
    if it is None:
        return Lines(_nothing(asked))
    head = f"run {asked.run.id}, {asked.run.scenario}"
    return Lines([head, *said(it), *_alike(asked, it), *_elsewhere(asked, it)])


def explain_document(asked: Asked) -> dict[str, Any]:
    """The same as one document; of a run without a failed reply, one that says so."""
    if asked.answer is not None:
        return document(asked.run.id, asked.answer, len(asked.alike))
    arm = next(iter(asked.arms)) if len(asked.arms) == 1 else None
    return nothing(asked.run.id, arm, asked.session, _nothing(asked))


def all_report(asked: Asked) -> Lines:
    """A line for each corrupt session of each arm, and to how many damage is joined."""
    lines = []
    for name, arm in asked.arms.items():
        found = arm.explanations()
        chance = arm.chance(summary.corrupt_of(found))
        told = summary.lines(found, chance)
        lines += [f'arm "{name}"', *(f"{INDENT}{each}" for each in told)]
    return Lines(lines)


def all_document(asked: Asked) -> dict[str, Any]:
    """The same as one document."""
    arms = []
    for name, arm in asked.arms.items():
        found = arm.explanations()
        counted = summary.counted(found, arm.chance(summary.corrupt_of(found)))
        arms.append({"arm": name, **counted, "sessions": summary.rows(found)})
    return {"run": asked.run.id, "arms": arms}


def _alike(asked: Asked, it: Explanation) -> list[str]:
    """How many other sessions are as bad, and how to see them."""
    others, arm = asked.alike, it.history.name
    if not others:
        return []
    many = "1 other session" if len(others) == 1 else f"{len(others)} other sessions"
    return [
        f"{many} of this arm failed likewise; all in a line each, and one of them:",
        asked.command(arm, "--all"),
        asked.command(arm, f"--session {others[0]}"),
    ]


def _elsewhere(asked: Asked, it: Explanation) -> list[str]:
    """The other arms that failed, where none was named."""
    session, shown = asked.session, it.history.name
    failed = [
        name
        for name, arm in asked.arms.items()
        if name != shown and (arm.failed if session is None else session in arm.failed)
    ]
    which = "" if session is None else f"--session {session}"
    if not failed:
        return []
    what = "Replies" if session is None else f"Session {session}"
    return [
        f'{what} failed in {len(failed) + 1} arms; shown is "{shown}". The others:',
        *(asked.command(name, which) for name in failed),
    ]


def _nothing(asked: Asked) -> list[str]:
    where = ", ".join(f'"{name}"' for name in asked.arms) or "no arm"
    if asked.session is None:
        told = f"No reply failed a judge in {where}: there is nothing to explain."
        return [told, *_unseen(asked)]
    failed = sorted({session for arm in asked.arms.values() for session in arm.failed})
    some = ", ".join(str(number) for number in failed[:20]) or "none"
    told = f"Session {asked.session}: no judge failed it in {where}. Those that failed: {some}."
    return [told, *_met(asked, asked.session), *_unseen(asked)]


def _met(asked: Asked, session: int) -> list[str]:
    """The violations that a session met though its replies are right, an arm a sentence."""
    told = {name: arm.met_by(session) for name, arm in asked.arms.items()}
    return [
        f'"{name}": it met {", ".join(f"{what} in turn {turn}" for turn, what in met)}, '
        f"and {'its reply is' if len(dict(met)) == 1 else 'its replies are'} right."
        for name, met in told.items()
        if met
    ]


def _unseen(asked: Asked) -> list[str]:
    """What the ledger saw though no reply shows it, an arm a sentence."""
    judged = {arm.name: _times(arm.violations) for arm in asked.verdict.arms}
    return [
        f'"{name}": the ledger saw {seen} all the same, and no reply shows it.'
        for name, arm in asked.arms.items()
        if not arm.failed and (seen := judged.get(name))
    ]


def _times(counts: Mapping[str, int]) -> str:
    """``restored_page_differs 3 times, ...``; empty where there are none."""
    return ", ".join(
        f"{name} " + ("once" if n == 1 else f"{n:,} times") for name, n in counts.items() if n
    )
