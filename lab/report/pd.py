"""What is said of a run's disaggregated arms: rooms, failures, and who wrote into whose pages.

One rule: whoever destroyed a page is named together with whose page it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lab.report import words
from lab.rooms import LATE_WRITE, disaggregated, late_phrases

if TYPE_CHECKING:
    from lab.records import ArmVerdict, LateWrite

NAMED = 3  # writers and victims that a line names before it only counts


def pd_lines(arms: Sequence[ArmVerdict]) -> list[str]:
    """One line for each disaggregated arm; those of which the same is to be said share theirs."""
    said = {
        arm.name: [f"{rooms(arm)}; {late(arm)}"]
        if disaggregated(arm.settings, arm.exposure)
        else []
        for arm in arms
    }
    return [f"rooms: {line}" for line in words.by_arm(said)]


def rooms(arm: ArmVerdict) -> str:
    """``240, 72 failed (timed out in WaitingForInput 69, ...), 9 without an end``, and how many
    tries were asked again.
    """
    opened, failed = arm.exposure.get("rooms", 0), arm.exposure.get("rooms_failed", 0)
    stuck, again = (arm.exposure.get(key, 0) for key in ("rooms_without_end", "client_retries"))
    parts = [str(opened), failed_of(failed, arm.room_failures)]
    parts += [f"{stuck} without an end"] if stuck else []
    return ", ".join([*parts, *([f"{again} asked again"] if again else [])])


def failed_of(failed: int, reasons: Mapping[str, int]) -> str:
    """``72 failed (timed out in WaitingForInput 69, ...)``."""
    return f"{failed} failed" + (f" ({words.tally(reasons)})" if reasons else "")


def late(arm: ArmVerdict) -> str:
    """How many late writes destroyed something, which room's they were and whose it was."""
    hits = sum(it.pages for it in arm.late_writes) or arm.violations.get(LATE_WRITE, 0)
    if not hits:
        return "no late write into an owned page"
    phrases = late_phrases(arm.late_writes)
    hidden = len(phrases) - NAMED
    more = f"; and {hidden} more pairs of rooms" if hidden > 0 else ""
    told = f": {'; '.join(phrases[:NAMED])}{more}" if phrases else ""
    return f"{hits} late write{'' if hits == 1 else 's'}{told}{bystanders(arm.late_writes)}"


def bystanders(found: Sequence[LateWrite]) -> str:
    """``; 3 of 4 victims' sessions had no failed try``; nothing where no victim is known."""
    spared = {it.victim_session: it.bystander for it in found if it.victim_session is not None}
    many = sum(bool(it) for it in spared.values())
    return f"; {many} of {len(spared)} victims' sessions had no failed try" if spared else ""
