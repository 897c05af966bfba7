"""What is said of a run's disaggregated arms: rooms, failures, and who wrote into whose pages.

One rule: whoever destroyed a page is named together with whose page it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lab.report import words
from lab.rooms import LATE_WRITE

if TYPE_CHECKING:
    from lab.records import ArmVerdict

NAMED = 3  # writers and victims that a line names before it only counts
CAUSES = {
    "waiting_timeouts": "waiting timeouts",
    "bootstrap_timeouts": "bootstrap timeouts",
    "room_aborts": "aborts",
    "metadata_false_alarm": "false alarms over metadata",
}


def pd_lines(arms: Sequence[ArmVerdict]) -> list[str]:
    """One line for each disaggregated arm; those of which the same is to be said share theirs."""
    said = {arm.name: [f"{rooms(arm)}; {late(arm)}"] if paired(arm) else [] for arm in arms}
    return [f"rooms: {line}" for line in words.by_arm(said)]


def paired(arm: ArmVerdict) -> bool:
    """Whether the arm had rooms, or was set to have some."""
    return bool(arm.settings.get("pd") or arm.exposure.get("rooms"))


def rooms(arm: ArmVerdict) -> str:
    """``240, 72 failed (waiting timeouts 69, aborts 3)``."""
    opened, failed = arm.exposure.get("rooms", 0), arm.exposure.get("rooms_failed", 0)
    seen = {**arm.exposure, **arm.violations}
    causes = [f"{said} {n}" for key, said in CAUSES.items() if (n := seen.get(key, 0))]
    return f"{opened}, {failed} failed" + (f" ({', '.join(causes)})" if causes else "")


def late(arm: ArmVerdict) -> str:
    """How many pages a room wrote that was no longer its own, and which room's they were."""
    pages = arm.violations.get(LATE_WRITE, 0)
    if not pages and not arm.late_writes:
        return "no late write into an owned page"
    named = "; ".join(arm.late_writes[:NAMED])
    hidden = len(arm.late_writes) - NAMED
    more = f"; and {hidden} more pairs of rooms" if hidden > 0 else ""
    return f"late writes into {pages} owned pages: {named}{more}"
