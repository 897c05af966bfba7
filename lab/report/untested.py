"""What a run does not show. One rule: a zero that nobody looks at is said here in words.

Arms that did not run, toggles that were on and never exercised, paths without a call, settings that
no arm varies, replies that no judge could judge, and the rates that n leaves possible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lab.copies import copy_paths, never_ran
from lab.errors import ScenarioError
from lab.exposure import ALWAYS_SAID, is_foreign, unexercised
from lab.report import words
from lab.report.run_sections import shared
from lab.report.servers import unread
from lab.scenario.document import Document

if TYPE_CHECKING:
    from lab.records import ArmHistory, ArmVerdict, Finding, RunVerdict
    from lab.store import StoredRun

NAMED = 6  # arms or sessions that a line names before it only counts


def untested(
    verdict: RunVerdict,
    stored: StoredRun | None,
    histories: Sequence[ArmHistory],
    findings: Mapping[str, Sequence[Finding]],
) -> list[str]:
    """A sentence each, the gravest first; empty where there is nothing to say."""
    said = {arm.name: _of_arm(arm, findings.get(arm.name, ())) for arm in histories}
    return [
        *_arms(stored),
        *words.by_arm(said),
        *_excluded(verdict.arms),
        *_zeros(histories),
        *_rows(verdict.arms),
        *_fixed(verdict.arms),
    ]


def _arms(stored: StoredRun | None) -> list[str]:
    """The arms of the file that are not stored."""
    if stored is None:
        return []
    try:
        arms = Document(stored.yaml, f"scenario of run {stored.id}").plain().get("arms") or ()
    except ScenarioError:
        return []
    missing = [str(it["name"]) for it in arms if it["name"] not in stored.arms]
    return [f"arms that did not run: {_some(missing)}"] if missing else []


def _of_arm(arm: ArmHistory, findings: Sequence[Finding]) -> list[str]:
    """What one arm leaves open; the same phrase of several arms is said once."""
    foreign = is_foreign(arm)
    idle = unexercised(arm.settings, arm.counters, foreign)
    never = never_ran(copy_paths(arm.counters))
    doubts = Counter(it.detector for it in findings if it.outcome == "unknown")
    told = [f"on, and never exercised: {', '.join(idle)}"] if idle else []
    told += [f"copy paths without a call: {'; '.join(never)}"] if never else []
    if doubts:
        told.append(f"replies that a judge could not judge: {words.tally(doubts)}")
    if any(not reply.expected_text for reply in arm.replies):
        told.append("the right text is not known: only what a reply shows by itself was judged")
    if foreign:
        told.append("without a ledger: a row that was destroyed and never read shows nothing")
    if keys := unread(arm):
        told.append(f"settings that the server does not tell: {', '.join(keys)}")
    return told


def _excluded(arms: Sequence[ArmVerdict]) -> list[str]:
    """What n leaves possible, arms of the same bound together."""
    bounds = {
        arm.name: [
            f"a rate below {words.percent(arm.ci95[1])} is not excluded by n = {arm.sessions}"
        ]
        if arm.verdict == "clean"
        else []
        for arm in arms
    }
    return words.by_arm(bounds)


def _zeros(histories: Sequence[ArmHistory]) -> list[str]:
    """The counters of exposure that moved in no arm of our own engine."""
    ours = [arm for arm in histories if not is_foreign(arm)]
    zeros = [key for key in ALWAYS_SAID if not any(arm.counters.get(key) for arm in ours)]
    return [f"never happened in any arm: {', '.join(zeros)}"] if ours and zeros else []


def _rows(arms: Sequence[ArmVerdict]) -> list[str]:
    """That wrong replies may lie in one row of the batch, which nobody noted down."""
    wrong = any(arm.replies_corrupt for arm in arms)
    return ["not recorded: which row of the batch a reply had"] if wrong else []


def _fixed(arms: Sequence[ArmVerdict]) -> list[str]:
    """How many settings are one value in every arm: another value is another run."""
    common = shared(arms)
    if not common:
        return []
    many = f"{len(common)} settings are" if len(common) > 1 else "1 setting is"
    return [f"not varied: {many} the same in every arm, and told under effective settings"]


def _some(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    told = ", ".join(f'"{name}"' for name in names[:NAMED])
    return f"{told} and {more} more" if more > 0 else told
