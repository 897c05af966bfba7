"""A run as the one JSON document that `--json` prints. One rule: the keys are public, and stay."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lab.records import ArmVerdict, RunVerdict
    from lab.store import StoredRun


def document(verdict: RunVerdict) -> dict[str, Any]:
    """The run; rates per session, intervals as [low, high], durations in seconds."""
    return {
        "run": verdict.run,
        "scenario": verdict.scenario,
        "seed": verdict.seed,
        "wall_s": round(verdict.wall_s, 3),
        "virtual_s": round(verdict.virtual_s, 3),
        "arms": [arm_document(arm) for arm in verdict.arms],
        "comparisons": [asdict(pair) for pair in verdict.comparisons],
    }


def arm_document(arm: ArmVerdict) -> dict[str, Any]:
    """One arm; its effective settings are called ``toggles`` here."""
    fields = asdict(arm)
    return {"name": fields.pop("name"), "toggles": fields.pop("settings"), **fields}


def run_document(run: StoredRun) -> dict[str, Any]:
    """A stored run as `kvlab runs` lists it; ``started_at`` is UTC, ISO 8601."""
    return {
        "run": run.id,
        "scenario": run.scenario,
        "seed": run.seed,
        "status": run.status.value,
        "started_at": f"{run.started_at.isoformat(timespec='seconds')}Z",
        "wall_s": run.wall_s,
        "virtual_s": run.virtual_s,
        "arms": list(run.arms),
        "verdicts": list(run.verdicts),
    }
