"""What each pool would be in each tier. One rule: no engine is started to find out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from engine.shapes import geometry_of
from lab.report.tiers import MISMATCH, geometry_table
from lab.scenario.loader import load_scenario
from lab.toggles import defaults, to_engine_config

if TYPE_CHECKING:
    from pathlib import Path

    from engine.config import EngineConfig

BOTH_TIERS = ({"index_k": "fp8", "hicache": True}, {"index_k": "bf16", "hicache": True})


def report(scenario: Path | None) -> list[dict[str, Any]]:
    """One entry an engine: of each arm of ``scenario``, or the defaults with either index-K.

    Raises `ScenarioError` for a file that cannot be run.
    """
    engines = _defaults() if scenario is None else _arms(scenario)
    return [
        {
            "engine": name,
            "build": list(config.build),
            "rows": [row.as_dict() for row in geometry_of(config)],
        }
        for name, config in engines.items()
    ]


def report_text(entries: Sequence[Mapping[str, Any]]) -> RenderableType:
    """The entries for a person, the mismatches counted in words under each table."""
    parts: list[RenderableType] = []
    for entry in entries:
        build = ", ".join(entry["build"]) or "healthy"
        parts.append(Text(f"{entry['engine']} (build: {build})", style="bold"))
        parts.append(geometry_table(entry["rows"]))
        wrong = [f"{row['pool']} {row['tier']}" for row in entry["rows"] if not row["agrees"]]
        if wrong:
            parts.append(Text(f"{MISMATCH}: {', '.join(wrong)}\n", style="bold red"))
    return Group(*parts)


def _defaults() -> dict[str, EngineConfig]:
    return {
        f"defaults, index_k {changed['index_k']}, hicache on": to_engine_config(
            {**defaults(), **changed}
        )
        for changed in BOTH_TIERS
    }


def _arms(path: Path) -> dict[str, EngineConfig]:
    scenario = load_scenario(path)
    return {
        arm.name: to_engine_config(scenario.settings(arm), build=scenario.build, seed=scenario.seed)
        for arm in scenario.arms
    }
