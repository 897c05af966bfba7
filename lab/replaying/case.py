"""Which failure is replayed: an arm of a stored run, and a session of it.

One rule: the stored history decides; nothing is run to find out what to run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from lab.errors import StoreError, UserError
from lab.replaying.stopping import Stop, stop_of, violations, wrong_turns
from lab.scenario.loader import parse_scenario
from lab.scenario.problem import did_you_mean

if TYPE_CHECKING:
    from lab.records import ArmHistory, ArmVerdict, Finding
    from lab.scenario.models import Arm, Scenario
    from lab.store import Results, StoredRun


class Look(NamedTuple):
    """What is remembered of an arm that may be the one; ``hurt``: a violation concerns the session
    that was asked for.
    """

    arm: str
    sessions: frozenset[int]
    hurt: bool


@dataclass(frozen=True)
class Case:
    """One session of one stored arm that failed."""

    run: StoredRun
    scenario: Scenario
    arm: Arm
    history: ArmHistory
    verdict: ArmVerdict
    findings: Sequence[Finding]
    stop: Stop

    @property
    def session(self) -> int:
        """The session that was asked for."""
        return self.stop.session

    @property
    def reply_wrong(self) -> bool | None:
        """Whether the reply was wrong whose turn the stop concerns; None where none is known."""
        turn = self.stop.turn
        return turn and turn.turn in wrong_turns(self.findings, turn.session)

    @property
    def failed_no_judge(self) -> bool:
        """Whether no judge found anything wrong with the session."""
        return not any(it.session == self.session and it.outcome == "fail" for it in self.findings)

    def about(self) -> dict[str, Any]:
        """Which one it is, for `--json`."""
        return {
            "run": self.run.id,
            "scenario": self.run.scenario,
            "arm": self.arm.name,
            "seed": self.run.seed,
            "session": self.session,
        }


def find(results: Results, run: str, session: int, arm: str | None = None) -> Case:
    """The case of ``session`` in ``arm``, by default the only arm in which it failed.

    Raises `UserError` for what is not there, and for a session that did not fail.
    """
    verdicts = {found.name: found for found in results.verdict(run).arms}
    stored, findings = results.run(run), results.findings(run)
    scenario = parse_scenario(stored.yaml, f"scenario of run {run}")
    if scenario.clock == "wall":
        what = "went by a wall clock, whose times no replay sees again"
        how = "clock=virtual" if scenario.target.bundled else "target=bundled"
        anew = f"; run its scenario anew with --set {how}" if scenario.target.takes_build else ""
        raise UserError(f"run {run} {what}{anew}")
    if arm is not None and arm not in verdicts:
        accepted = ", ".join(repr(name) for name in verdicts)
        hint = did_you_mean(arm, verdicts)
        raise StoreError(f"--arm {arm}: no such arm in run {run}; accepted: {accepted}{hint}")
    looks = [
        _look(it, session)
        for name in results.arms(run, arm)
        for it in results.histories(run, name)  # one arm at a time
    ]
    there = [it for it in looks if session in it.sessions]
    if not there:
        raise StoreError(_no_session(looks, session))
    failed = [it.arm for it in there if wrong_turns(findings.get(it.arm, ()), session)]
    failed = failed or [it.arm for it in there if it.hurt]
    if len(failed) != 1:
        raise UserError(_which([it.arm for it in there], failed, session))
    (history,) = results.histories(run, failed[0])
    settings = {key: value for key, value in history.settings.items() if key in scenario.base}
    named = next(found for found in scenario.arms if found.name == history.name)
    named = named.model_copy(update={"overrides": settings})  # presets may have changed since
    its = findings.get(history.name, [])
    stop = stop_of(history, its, session)
    return Case(stored, scenario, named, history, verdicts[history.name], its, stop)


def _look(history: ArmHistory, session: int) -> Look:
    sessions = frozenset(reply.session for reply in history.replies)
    return Look(history.name, sessions, bool(violations(history, session)))


def _no_session(looks: Sequence[Look], session: int) -> str:
    known = sorted({one for look in looks for one in look.sessions})
    span = f"{known[0]} to {known[-1]}" if known else "none"
    spelled = span if known == list(range(len(known))) else ", ".join(map(str, known))
    return f"no session {session}; accepted: {spelled}"


def _which(there: Sequence[str], failed: Sequence[str], session: int) -> str:
    """Why there is not exactly one arm to replay."""
    if failed:
        names = ", ".join(repr(name) for name in failed)
        return f"session {session} failed in {len(failed)} arms; --arm names one: {names}"
    names = repr(there[0]) if len(there) == 1 else f"every arm ({len(there)})"
    return f"session {session} is clean in {names}: nothing to stop at"
