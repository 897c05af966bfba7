"""From a scenario file to a `Scenario`. One rule: a mistake is one line, and the first is told."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from lab.errors import ScenarioError
from lab.scenario.checks import check, missing
from lab.scenario.complaints import problems
from lab.scenario.document import Document, Patch, read
from lab.scenario.fields import ExpectationFile, shape_of
from lab.scenario.models import Arm, Expectation, Flip, Scenario, Search, Workload
from lab.scenario.patches import patches
from lab.scenario.problem import MISSING, Problem
from lab.scenario.target import target_of
from lab.targets.spec import BUNDLED
from lab.workloads import PRESETS, resolve

if TYPE_CHECKING:
    from lab.targets.spec import TargetSpec

SCENARIOS = Path("scenarios")
LISTS = "; `kvlab scenario list` shows those that there are"
NEAR = 0.7  # how alike two names are of which one may be meant
GPU = "gpu"  # the folder of what needs one
PROFILES = "profiles"  # the folder of the launch profiles, of which `lab.profiles` is the loader
SHIPPED = Path(__file__).parents[2] / SCENARIOS  # of the checkout that this code runs from


def load_scenario(
    path: Path, sets: Sequence[str] = (), seed: int | None = None, *, here: bool = False
) -> Scenario:
    """The scenario in the file at ``path``, patched by the options; ``here`` as below.

    A bare name finds its file under ``scenarios/``. Raises `ScenarioError`.
    """
    found = find(path)
    return parse_scenario(read(found), str(found), patches(sets, seed), here=here)


def parse_scenario(
    text: str, file: str, patched: Sequence[Patch] = (), *, here: bool = False
) -> Scenario:
    """The scenario that ``text`` holds; ``file`` is how errors name it. Raises `ScenarioError`,
    with ``here`` also where an arm needs what is not installed.
    """
    document = Document(text, file, patched)
    target = target_of(document.plain().get("target", BUNDLED))
    if isinstance(target, Problem):  # what else may stand in the file depends on it
        raise _first(document, [target])
    shape = shape_of(target)
    try:
        checked = shape.file.model_validate(document.plain())
    except ValidationError as error:
        raise _first(document, problems(error, shape=shape)) from None
    scenario = _build(checked.model_dump(exclude_unset=True), document, target)
    found = list(check(scenario)) or list(missing(scenario) if here else ())
    if found:
        raise _first(document, found)
    return scenario


def expectations(text: str, file: str) -> dict[str, Expectation]:
    """What a scenario expects, and nothing else of it: presets and toggles may have changed since.

    Raises `ScenarioError`.
    """
    document = Document(text, file)
    found = document.plain().get("expect", {})
    try:
        checked = TypeAdapter(dict[str, ExpectationFile]).validate_python(found)
    except ValidationError as error:
        raise _first(document, problems(error, ("expect",))) from None
    return _expectations({name: one.model_dump() for name, one in checked.items()})


def capped(scenario: Scenario, most: int | None) -> Scenario:
    """The same with at most ``most`` sessions an arm, also in its source; None caps nothing."""
    if most is None:
        return scenario
    numbers: dict[tuple[str | int, ...], int]
    numbers = {("workload", "sessions"): scenario.workload.sessions}
    numbers |= {("arms", i, "sessions"): arm.sessions or 0 for i, arm in enumerate(scenario.arms)}
    option = f"--sessions {most}"
    lower = [Patch(keys, most, option) for keys, number in numbers.items() if number > most]
    return parse_scenario(scenario.source, str(scenario.path), lower)


def find(path: Path) -> Path:
    """``path`` itself, or the file of that name under ``scenarios/``, here or in the checkout."""
    if path.exists():
        return path
    known = {file.stem: file for file in [*listed(SHIPPED), *listed()]}
    if str(path) in known:
        return known[str(path)]
    near = _nearest(path.stem, known)
    hint = f" (did you mean {str(known[near])!r}?)" if near else LISTS
    raise ScenarioError(f"{path}: no such file{hint}")


def _nearest(given: str, known: Mapping[str, Path]) -> str:
    """The name that was meant: written out, or only begun; of two alike, what needs no GPU."""

    def alike(name: str) -> float:
        return max(_ratio(given, name), _ratio(given, name[: len(given) + 1]))

    found = max(known, key=lambda name: (alike(name), GPU not in known[name].parts), default="")
    return found if found and alike(found) >= NEAR else ""


def _ratio(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other).ratio()


def listed(root: Path = SCENARIOS) -> list[Path]:
    """Every scenario file under ``root``, in order; launch profiles are no scenarios."""
    found = [*root.rglob("*.yaml"), *root.rglob("*.yml")]
    return sorted(path for path in found if PROFILES not in path.relative_to(root).parts)


def _first(document: Document, found: list[Problem]) -> ScenarioError:
    """The mistake that stands first in the file, and how many follow.

    A missing key comes last: as a rule it is there, misspelt, and that is the line to show.
    """
    blamed = [document.blamed(problem) for problem in reversed(found)]
    located = {document.where(problem.path): problem for problem in blamed}.items()
    where, problem = min(located, key=lambda pair: (pair[1].what == MISSING, _order(pair[0])))
    more = f" (and {len(located) - 1} more)" if len(located) > 1 else ""
    return ScenarioError(problem.line(where) + more)


def _order(where: str) -> int:
    line = where.rpartition(":")[2]
    return int(line) if line.isdecimal() else 0


def _build(given: dict[str, Any], document: Document, target: TargetSpec) -> Scenario:
    """The frozen models from a file whose shape is right; ``given`` holds only what it says."""
    load, flips = dict(given["workload"]), given.get("toggles", {})
    kind, preset = load.pop("kind"), load.pop("preset", "reference")
    sessions = load.pop("sessions", None) or resolve(kind, preset, {}).sessions
    return Scenario(
        name=given["name"],
        about=given.get("about", ""),
        build=tuple(given.get("build", ())),
        target=target,
        clock=given.get("clock", "virtual" if target.bundled else "wall"),
        workload=Workload(kind=kind, preset=preset, sessions=sessions, options=load),
        engine=given.get("engine", {}),
        arms=tuple(_arm(dict(arm)) for arm in given.get("arms", ())),
        toggles={key: Flip(**flips[key]) for key in document.plain().get("toggles", {})},
        expect=_expectations(given.get("expect", {})),
        seed=given.get("seed", 0),
        path=Path(document.file),
        source=document.source(),
        base=_base(target, preset),
        constraints=given.get("constraints", {}),
        bisect=Search(**given.get("bisect", {})),
        sweep=given.get("sweep", {}),
    )


def _base(target: TargetSpec, preset: str) -> dict[str, Any]:
    """Every toggle's default under the preset's own, which are of the bundled engine and its load.

    It may stand behind a profile; what another engine calls by the same name is not meant.
    """
    toggles, ours = target.toggles, target.takes_build
    return {
        **{key: toggle.default for key, toggle in toggles.items()},
        **{
            key: value
            for key, value in PRESETS[preset].engine.items()
            if key in toggles and (ours or toggles[key].applies == "load")
        },
    }


def _expectations(given: dict[str, Any]) -> dict[str, Expectation]:
    return {name: Expectation(**one) for name, one in given.items()}


def _arm(given: dict[str, Any]) -> Arm:
    name, sessions = given.pop("name"), given.pop("sessions", None)
    return Arm(name=name, round=given.pop("round", 1), sessions=sessions, overrides=given)
