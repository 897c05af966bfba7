"""What may be sought, and which sessions of a trial show it. One rule: one file says what counts.

Each takes a judged trial and returns its bad sessions, and why a trial without one shows nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from lab.concerned import concerned
from lab.concluding import shows_nothing
from lab.detectors import Kind, worst
from lab.targets import failure
from lab.wedge import wedge

if TYPE_CHECKING:
    from lab.records import ArmHistory, ArmVerdict, Finding

Sought = Callable[["ArmHistory", "ArmVerdict", Sequence["Finding"]], tuple[int, str]]
CORRUPT, WEDGED, VIOLATED = "corrupt", "wedged", "violated"


def corrupt(
    history: ArmHistory, verdict: ArmVerdict, findings: Sequence[Finding]
) -> tuple[int, str]:
    """The sessions with a corrupt reply, and why a trial without one shows nothing.

    Of a model whose texts nobody knows those in which it missed are bad, too: a search holds them
    against the arm with every toggle good, which is their control. Only what a client sees counts:
    a row that was destroyed and that no reply shows is evidence. Nor is a path that one trial never
    took a reason: that is for all trials of an arm.
    """
    if wrong := _wrong(findings):
        return len(wrong), ""
    if verdict.verdict in ("wedged", "parser_fault", "nondeterministic"):
        return 0, f"{verdict.verdict}: {verdict.reason}"
    return 0, failure(history) or wedge(history) or shows_nothing(history, findings)


def violated(
    history: ArmHistory, verdict: ArmVerdict, findings: Sequence[Finding]
) -> tuple[int, str]:
    """The sessions with a corrupt reply or that a broken invariant concerns.

    Where it concerns none that is known it is one of the boot's: the least that is sure, so a boot
    is bad, and no more sessions of it than are known to be.
    """
    if verdict.violations:
        owed = {reply.session for reply in history.replies if reply.due}
        return len(_wrong(findings) | (owed & concerned(history))) or 1, ""
    return corrupt(history, verdict, findings)


def wedged(
    history: ArmHistory, verdict: ArmVerdict, findings: Sequence[Finding]
) -> tuple[int, str]:
    """Every session of a boot that wedged, and who waits for what; none of one that got on, and why
    neither is known.

    A wedge is the boot's, so its sessions correlate wholly: the rates a boot and a session are one,
    and `unit: auto` finds the boot.
    """
    if who := wedge(history):
        return verdict.sessions or history.sessions, who
    return 0, failure(history) or ""


def _wrong(findings: Sequence[Finding]) -> set[int]:
    """The sessions with a reply that is corrupt or missed."""
    kinds = (Kind.CORRUPT, Kind.MISSED)
    return {it.session for it in findings if any(worst([it], kind) for kind in kinds)}


OUTCOMES: dict[str, Sought] = {CORRUPT: corrupt, WEDGED: wedged, VIOLATED: violated}


def verdict_of(outcome: str) -> str:
    """What judges say of an arm in which it was seen: a broken invariant corrupts."""
    return CORRUPT if outcome == VIOLATED else outcome
