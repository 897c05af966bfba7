"""What each pool would be in each tier. One rule: no engine is started to find out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from engine.shapes import bytes_of, geometry_of
from lab.scenario.loader import load_scenario
from lab.toggles import defaults, to_engine_config

if TYPE_CHECKING:
    from pathlib import Path

    from engine.config import EngineConfig

BOTH_TIERS = ({"index_k": "fp8", "hicache": True}, {"index_k": "bf16", "hicache": True})


def report(scenario: Path | None, sets: Sequence[str] = ()) -> list[dict[str, Any]]:
    """One entry an engine: of each arm of ``scenario``, or the defaults with either index-K.

    Raises `ScenarioError` for a file that cannot be run.
    """
    engines = _defaults() if scenario is None else _arms(scenario, sets)
    return [_entry(name, config) for name, config in engines.items()]


def _entry(name: str, config: EngineConfig) -> dict[str, Any]:
    rows = geometry_of(config)
    return {
        "engine": name,
        "build": list(config.build),
        "rows": [row.as_dict() for row in rows],
        "ranks": config.ranks,
        "bytes": bytes_of(rows, config.ranks),
    }


def _defaults() -> dict[str, EngineConfig]:
    return {
        f"defaults, index_k {changed['index_k']}, hicache on": to_engine_config(
            {**defaults(), **changed}
        )
        for changed in BOTH_TIERS
    }


def _arms(path: Path, sets: Sequence[str]) -> dict[str, EngineConfig]:
    scenario = load_scenario(path, sets)
    return {
        arm.name: to_engine_config(scenario.settings(arm), build=scenario.build, seed=scenario.seed)
        for arm in scenario.arms or scenario.ends
    }
