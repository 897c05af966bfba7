"""How a stored run ended. One rule: what is concluded of a part of a run says that it is a part."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lab.errors import ScenarioError
from lab.scenario.document import Document
from lab.store import RunStatus

if TYPE_CHECKING:
    from lab.records import RunVerdict
    from lab.store import Results, StoredRun

SHORT = (RunStatus.INTERRUPTED, RunStatus.FAILED)


def verdict_of(results: Results, run: str) -> RunVerdict:
    """What was last concluded of a run, and how far that had come; raises ``StoreError``."""
    return replace(results.verdict(run), incomplete=incomplete(results.run(run)))


def incomplete(stored: StoredRun) -> str:
    """``interrupted: 14 of 31 arms``; empty for a run that went to its end, or is still going."""
    if stored.status not in SHORT:
        return ""
    try:
        arms = len(Document(stored.yaml, f"scenario of run {stored.id}").plain().get("arms", ()))
    except ScenarioError:
        arms = 0
    return f"{stored.status.value}: {len(stored.arms)} of {arms or 'unknown'} arms"
