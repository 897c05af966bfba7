"""One arm as a scenario of its own. One rule: the file repeats the arm and needs nothing else."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from engine.defects import catalog
from lab.errors import UserError
from lab.scenario.checks import BOOKS
from lab.scenario.document import yaml
from lab.scenario.fields import TOGGLED
from lab.workloads import resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from lab.scenario.models import Arm, Scenario


def alone(
    scenario: Scenario,
    *,
    name: str,
    about: str,
    workload: Mapping[str, Any],
    engine: Mapping[str, Any],
    arm: str,
    expect: Mapping[str, Any],
    seed: int,
) -> str:
    """The YAML of one arm of ``scenario``: these settings of its load and engine, this seed."""
    tree = {
        "name": name,
        "about": about,
        "build": list(scenario.build),
        "target": scenario.target.document(),
        "workload": dict(workload),
        "engine": dict(engine),
        "arms": [{"name": arm}],
        "expect": {arm: dict(expect)} if expect else {},
        "seed": seed,
    }
    out = io.StringIO()
    yaml().dump(tree, out)
    return out.getvalue()


def effective(scenario: Scenario, arm: Arm, seed: int, expect: Mapping[str, Any]) -> str:
    """The YAML of the arm with every setting spelled out, whatever presets become."""
    load, settings = scenario.workload, scenario.settings(arm)
    numbers = resolve(load.kind, load.preset, scenario.load(arm)).model_dump(exclude_none=True)
    given = {key: value for key, value in numbers.items() if key not in TOGGLED}
    return alone(
        scenario,
        name=scenario.name,
        about=scenario.about,
        workload={"kind": load.kind, "preset": load.preset, **given},
        engine=settings,
        arm=arm.name,
        expect=expect,
        seed=seed,
    )


def expectation(verdict: str, violations: Iterable[str]) -> dict[str, Any]:
    """What the arm must conclude again; of the violations those that a file may name.

    Empty for a verdict that needs a second arm.
    """
    if verdict == "nondeterministic":
        return {}
    nameable = {name for defect in catalog().values() for name in defect.evidence} | {BOOKS}
    named = [name for name in violations if name in nameable]
    return {"verdict": verdict, **({"violations": named} if named else {})}


def save(file: Path, text: str) -> None:
    """Write a file and the folders on its way; raises `UserError` in one line."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from error
