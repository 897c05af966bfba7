"""Bisections, configurations and trials as rows of the database, and back.

One rule: equal configurations are equal texts, so a row is found by its text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab.bisect.space import Config
from lab.bisect.trials import Trial
from lab.store.columns import encode
from lab.store.rows import RunStatus

if TYPE_CHECKING:
    from datetime import datetime

COUNTERS = ("violations", "faults", "exposure", "reach")
TRIAL_COLUMNS = (
    *("seed", "sessions", "corrupt", "unknown", "verdict"),
    *COUNTERS,
    *("digest", "wall_s"),
)


@dataclass(frozen=True)
class StoredBisection:
    """One bisection; ``verdict`` is its whole document, None until it is done."""

    id: str
    scenario: str
    yaml: str
    seed: int
    method: str
    options: dict[str, Any]
    versions: dict[str, Any]
    status: RunStatus
    started_at: datetime  # UTC, without a zone
    verdict: dict[str, Any] | None
    trials: int
    sessions: int
    wall_s: float  # of all trials together


def bisection_of(row: Sequence[Any]) -> StoredBisection:
    """A bisection from its columns, and the trials, sessions and seconds stored of it."""
    ident, scenario, yaml, seed, method, options, versions, status, started_at, verdict, *n = row
    return StoredBisection(
        id=ident,
        scenario=scenario,
        yaml=yaml,
        seed=seed,
        method=method,
        options=json.loads(options),
        versions=json.loads(versions),
        status=RunStatus(status),
        started_at=started_at,
        verdict=None if verdict is None else json.loads(verdict),
        trials=int(n[0]),
        sessions=int(n[1]),
        wall_s=float(n[2]),
    )


def config_text(config: Config) -> str:
    """A configuration as JSON, its bad toggles sorted."""
    levels = [list(level) for level in config.levels]
    return json.dumps({"bad": sorted(config.bad), "levels": levels})


def config_of(text: str) -> Config:
    """The inverse of ``config_text``."""
    fields = json.loads(text)
    return Config(frozenset(fields["bad"]), tuple((key, at) for key, at in fields["levels"]))


def trial_row(trial: Trial) -> list[Any]:
    """A trial's ``TRIAL_COLUMNS``, encoded."""
    values = [getattr(trial, name) for name in TRIAL_COLUMNS]
    return [encode(dict(it) if isinstance(it, Mapping) else it) for it in values]


def trial_of(index: int, own: Sequence[Any]) -> Trial:
    """A trial from its index and its ``TRIAL_COLUMNS``."""
    fields = dict(zip(TRIAL_COLUMNS, own, strict=True))
    return Trial(index=index, **fields | {name: json.loads(fields[name]) for name in COUNTERS})
