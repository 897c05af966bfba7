"""A run as the one JSON document that `--json` prints. One rule: the keys are public, and stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from lab.copies import PATH, ROWS, copy_paths, stored_geometry
from lab.exposure import exposure, faults, is_foreign, violations
from lab.repeats import together
from lab.report.endings import errors
from lab.report.origin import origin
from lab.sweeps import sweep_of

if TYPE_CHECKING:
    from lab.records import ArmHistory, ArmVerdict, RunVerdict
    from lab.store import StoredBisection, StoredRun


def document(verdict: RunVerdict) -> dict[str, Any]:
    """The run; rates per session, intervals as [low, high], durations in seconds.

    ``sweep`` is there where the arms are the levels of one number, ``repeats`` where arms were
    repeated: each with all of its repetitions.
    """
    repeated = together(verdict)
    sweep = sweep_of((repeated.verdict if repeated else verdict).arms)
    return {
        "run": verdict.run,
        "scenario": verdict.scenario,
        "seed": verdict.seed,
        "incomplete": verdict.incomplete or None,
        **({"older_rules": True} if verdict.older_rules else {}),
        "wall_s": round(verdict.wall_s, 3),
        "virtual_s": round(verdict.virtual_s, 3),
        "arms": [arm_document(arm) for arm in verdict.arms],
        "comparisons": [asdict(pair) for pair in verdict.comparisons],
        **({"sweep": sweep.document()} if sweep is not None else {}),
        **({"repeats": repeated.document()} if repeated is not None else {}),
    }


def arm_document(arm: ArmVerdict) -> dict[str, Any]:
    """One arm; its effective settings are called ``toggles`` here. ``sessions`` were owed a reply;
    ``sessions_judged`` of them show anything, and are the n of ``rate`` and ``ci95``.
    """
    fields = {
        **asdict(arm),
        "sessions_judged": arm.sessions_judged,
        "rate_missed": arm.rate_missed,
    }
    return {"name": fields.pop("name"), "toggles": fields.pop("settings"), **fields}


def shown_document(
    run: StoredRun, histories: Sequence[ArmHistory], verdict: RunVerdict | None
) -> dict[str, Any]:
    """A stored run as `kvlab show` tells it: one object for each of ``histories``.

    Its arms have the keys of `kvlab run`, the conclusions ``None`` where nobody judged, and all
    that they counted.
    """
    judged = {arm.name: arm for arm in verdict.arms} if verdict else {}
    arms = [shown_arm(found, judged.get(found.name)) for found in histories]
    verdicts = [arm["verdict"] for arm in arms if arm["verdict"] is not None]
    return {
        **run_document(run),
        **asdict(origin(run, histories)),
        "arms": arms,
        "verdicts": verdicts,
    }


def shown_arm(history: ArmHistory, verdict: ArmVerdict | None) -> dict[str, Any]:
    """One arm: what was concluded, what its tries failed of, all that it counted, its copy paths
    and its geometry.
    """
    observed = {
        "name": history.name,
        "toggles": history.settings,
        "sessions": history.sessions,
        "violations": violations(history.counters),
        "faults": faults(history.counters),
        "exposure": exposure(history.counters, is_foreign(history)),
        "verdict": None,
        "reason": None,
        "history_digest": history.history_digest,
        "wall_s": history.wall_s,
        "virtual_s": history.virtual_s,
    }
    return {
        **(arm_document(verdict) if verdict is not None else observed),
        "stalled": history.stalled,
        "errors": errors(history),
        "counters": {n: c for n, c in history.counters.items() if not n.startswith((PATH, ROWS))},
        "paths": [asdict(path) for path in copy_paths(history.counters)],
        "geometry": stored_geometry(history),
    }


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


def stored_documents(
    runs: Sequence[StoredRun], bisections: Sequence[StoredBisection]
) -> list[dict[str, Any]]:
    """All that `kvlab runs` lists, the newest first; whoever reads runs can read bisections."""
    told = [(run.started_at, run_document(run)) for run in runs]
    told += [(one.started_at, bisection_document(one)) for one in bisections]
    return [one for _, one in sorted(told, key=lambda pair: pair[0], reverse=True)]


def bisection_document(bisection: StoredBisection) -> dict[str, Any]:
    """A stored bisection with the keys of a run, ``kind`` and what only it has."""
    verdict = bisection.verdict
    return {
        "run": bisection.id,
        "kind": "bisection",
        "scenario": bisection.scenario,
        "seed": bisection.seed,
        "status": bisection.status.value,
        "started_at": f"{bisection.started_at.isoformat(timespec='seconds')}Z",
        "wall_s": bisection.wall_s,
        "virtual_s": None,
        "arms": [],
        "verdicts": [] if verdict is None else [verdict["verdict"]],
        "method": bisection.method,
        "culprits": [] if verdict is None else verdict["culprits"],
        "trials": bisection.trials,
        "sessions": bisection.sessions,
    }
