"""Which engine is to be served. One rule: what `run` would refuse is refused here, in its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.defects import catalog
from engine.errors import ConfigError
from lab.errors import ScenarioError, UserError
from lab.scenario.checks import refusal
from lab.scenario.document import Document, Patch, read
from lab.scenario.loader import find, parse_scenario
from lab.scenario.models import Arm
from lab.scenario.patches import patches
from lab.scenario.problem import did_you_mean
from lab.toggles import to_engine_config

if TYPE_CHECKING:
    from engine.config import EngineConfig
    from lab.scenario.models import Scenario

SERVED = "served"
# Nobody says what load will come: this one fits into any engine that could serve at all.
PLAIN = f"""\
name: {SERVED}
workload: {{kind: tool_sessions, turns: 1, groups: 1, shared_entries: 1, private_entries: 1}}
engine: {{}}
arms: [{{name: {SERVED}}}]
"""


@dataclass(frozen=True)
class Asked:
    """What was typed: a scenario's file or name, one of its arms, patches, defects and a seed."""

    scenario: Path | None = None
    arm: str | None = None
    sets: Sequence[str] = ()
    defects: Sequence[str] = ()
    seed: int | None = None


def engine_config(asked: Asked) -> EngineConfig:
    """The engine of a scenario, or of one of its arms; without one, of the toggles' defaults.

    Raises `UserError` for what cannot be served here.
    """
    scenario = _scenario(asked)
    arm = _arm(scenario, asked)
    if why := refusal(scenario, arm):
        raise UserError(f"{scenario.path}: {why}")
    try:
        settings = scenario.settings(arm)
        return to_engine_config(settings, build=scenario.build, seed=scenario.seed)
    except ConfigError as error:
        raise UserError(f"{scenario.path}: {error}") from None


def _scenario(asked: Asked) -> Scenario:
    """The file, patched; `--defect` adds to its build."""
    file = find(asked.scenario) if asked.scenario is not None else Path("serve")
    text = read(file) if asked.scenario is not None else PLAIN
    patched = [*patches(asked.sets, asked.seed)]
    build = Document(text, str(file), patched).plain().get("build") or []
    for name in asked.defects:
        _check(name)
        if isinstance(build, list) and name not in build:
            build = [*build, name]
            patched.append(Patch(("build",), build, f"--defect {name}"))
    scenario = parse_scenario(text, str(file), patched)
    if not scenario.target.bundled:
        what = f"its target is {scenario.target.name}, which is not ours to serve"
        raise UserError(f"{file}: {what}; accepted: bundled")
    return scenario


def _check(defect: str) -> None:
    known = tuple(catalog())
    if defect not in known:
        what = f"--defect {defect}: unknown defect; accepted: {', '.join(known)}"
        raise ScenarioError(what + did_you_mean(defect, known))


def _arm(scenario: Scenario, asked: Asked) -> Arm:
    """The arm of that name; without a name, the engine as the file itself sets it."""
    if asked.arm is None:
        return Arm(name=SERVED)
    known = {arm.name: arm for arm in scenario.arms}
    if asked.scenario is None or not known:
        raise UserError(f"--arm {asked.arm}: there are no arms; name a scenario that has some")
    if asked.arm not in known:
        accepted = ", ".join(repr(name) for name in known)
        hint = did_you_mean(asked.arm, known)
        raise UserError(f"--arm {asked.arm}: no such arm; accepted: {accepted}{hint}")
    return known[asked.arm]
