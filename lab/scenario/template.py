"""A new scenario file, with a comment at each key. One rule: what is written passes the checks that
every file must, and a mistake in what was asked for is told of the option.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.errors import UserError
from lab.scenario.document import Patch
from lab.scenario.loader import SCENARIOS, SHIPPED, parse_scenario
from lab.scenario.patches import value_of
from lab.scenario.problem import Problem
from lab.scenario.target import target_of
from lab.workloads import PRESETS, WORKLOADS, resolve

if TYPE_CHECKING:
    from lab.targets.spec import TargetSpec

NAME = re.compile(r"[a-z][a-z0-9_]{0,79}")
PLAIN = re.compile(r"[A-Za-z_/.][\w ./:+-]*[\w./+-]|[A-Za-z_/]")  # text that needs no quotes
NOT_TEXT = ("true", "false", "null", "yes", "no", "on", "off", "y", "n")
SCHEMA = "schema.json"
SMALL = "small"
ARMS = ({"name": "as it is"}, {"name": "one at a time", "concurrency": 1})  # of any target


@dataclass(frozen=True)
class Wanted:
    """What the file is to say; ``arms`` as ``NAME: KEY=VALUE, ...``, ``toggles`` as
    ``KEY=BAD,GOOD``, ``params`` as ``KEY=VALUE``.
    """

    name: str
    about: str = ""
    target: str = "bundled"
    params: Sequence[str] = ()
    workload: str = ""
    preset: str = SMALL
    sessions: int = 8
    build: Sequence[str] = ()
    arms: Sequence[str] = ()
    toggles: Sequence[str] = ()


def place(wanted: Wanted, file: Path | None) -> Path:
    """Where the file goes: where the user says, else by its name, in `scenarios/` where that is.

    Raises `UserError` for a name that is none, and for a file that is there already.
    """
    if not NAME.fullmatch(wanted.name):
        accepted = "small letters, digits and _, a letter first"
        raise UserError(f"--name {wanted.name}: no name of a scenario; accepted: {accepted}")
    own = f"{wanted.name}.yaml"
    found = file or (SCENARIOS / own if SCENARIOS.is_dir() else Path(own))
    if found.exists():
        raise UserError(f"{found}: is there already; name another file, or another --name")
    return found


def write(wanted: Wanted, file: Path | None = None) -> Path:
    """Write the new file and return where it is; raises `UserError` with nothing written."""
    path = place(wanted, file)
    text = template(wanted, path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as out:
            out.write(text)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None
    return path


def template(wanted: Wanted, path: Path) -> str:
    """The file's text, checked; raises `ScenarioError` of the option that is wrong."""
    target = _target(wanted)
    said = _said(wanted, target)
    text = "\n".join([*_head(wanted, path), *_body(wanted, target, said)]) + "\n"
    asked = [Patch((key,), said[key], option) for key, option in _options(wanted).items()]
    parse_scenario(text, str(path), asked)  # an option is told of before the line that it wrote
    parse_scenario(text, str(path))
    return text


def flow(value: Any) -> str:
    """A value as YAML on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{flow(key)}: {flow(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, str):
        plain = PLAIN.fullmatch(value) and value.casefold() not in NOT_TEXT and ": " not in value
        return value if plain else json.dumps(value, ensure_ascii=False)
    return json.dumps(value)


def default_workload(target: TargetSpec) -> str:
    """A load that the target's model can follow."""
    return "tool_sessions" if target.takes_build else "tool_tasks"


def kinds(target: TargetSpec) -> list[str]:
    """The loads that the target's model can follow, in the form that is written for it."""
    every = {kind: resolve(kind, SMALL, _form(kind, target)) for kind in WORKLOADS.all()}
    ours = target.takes_build
    return [kind for kind, load in every.items() if bool(load.beyond_bundled()) is not ours]


def _form(kind: str, target: TargetSpec) -> dict[str, str]:
    """What a load in plain words needs for the bundled model to follow it."""
    load = WORKLOADS.all().get(kind)
    formed = load is not None and "form" in load.model_fields
    return {"form": "manual"} if formed and target.takes_build else {}


def _topk(kind: str, preset: str, target: TargetSpec) -> dict[str, int]:
    """What the bundled indexer must select where the load asks for more than its preset has."""
    if kind not in WORKLOADS.all() or preset not in PRESETS or "index_topk" not in target.toggles:
        return {}
    least = resolve(kind, preset, _form(kind, target)).least_topk()
    return {"index_topk": least} if least > PRESETS[preset].engine["index_topk"] else {}


def _said(wanted: Wanted, target: TargetSpec) -> dict[str, Any]:
    """The values of the file's keys."""
    kind = wanted.workload or default_workload(target)
    load = {"kind": kind, "preset": wanted.preset, **_form(kind, target)}
    return {
        "name": wanted.name,
        "target": target.document() if not target.bundled else "bundled",
        "build": list(wanted.build),
        "workload": {**load, "sessions": wanted.sessions},
        "engine": {"concurrency": wanted.sessions, **_topk(kind, wanted.preset, target)},
        "arms": [_arm(text) for text in wanted.arms] or list(ARMS),
        "toggles": dict(map(_flip, wanted.toggles)),
    }


def _options(wanted: Wanted) -> dict[str, str]:
    """For the keys that options gave, what was typed."""
    load = [f"--workload {wanted.workload}"] if wanted.workload else []
    load += [f"--preset {wanted.preset}"] if wanted.preset != SMALL else []
    typed = {
        "build": " ".join(f"--build {name}" for name in wanted.build),
        "workload": " ".join(load),
        "arms": " ".join(f"--arm {text!r}" for text in wanted.arms),
        "toggles": " ".join(f"--toggle {text}" for text in wanted.toggles),
    }
    return {key: option for key, option in typed.items() if option}


def _target(wanted: Wanted) -> TargetSpec:
    """The target; raises `ScenarioError` of `--target`."""
    option = f"--target {wanted.target}"
    params = dict(_pair(text, f"--param {text}", "KEY=VALUE") for text in wanted.params)
    found = target_of({"profile": wanted.target, **params} if params else wanted.target)
    if isinstance(found, Problem):
        if not params and " needs " in found.what:
            raise UserError(f"{option}: {found.what}; accepted: --param KEY=VALUE for each")
        raise found.error(option)
    return found


def _arm(text: str) -> dict[str, Any]:
    name, _, settings = text.partition(":")
    option, accepted = f"--arm {text!r}", "NAME: KEY=VALUE, ..."
    pairs = [_pair(part, option, accepted) for part in settings.split(",") if part.strip()]
    return {"name": name.strip(), **{key: value_of(value, option) for key, value in pairs}}


def _flip(text: str) -> tuple[str, dict[str, Any]]:
    option = f"--toggle {text}"
    key, values = _pair(text, option, "KEY=BAD,GOOD")
    bad, comma, good = values.partition(",")
    if not (comma and bad.strip() and good.strip()):
        raise UserError(f"{option}: {text!r} is not accepted; accepted: KEY=BAD,GOOD")
    return key, {"bad": value_of(bad, option), "good": value_of(good, option)}


def _pair(text: str, option: str, accepted: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (equals and key.strip() and value.strip()):
        raise UserError(f"{option}: {text.strip()!r} is not accepted; accepted: {accepted}")
    return key.strip(), value.strip()


def _head(wanted: Wanted, path: Path) -> list[str]:
    """The line by which an editor finds the schema; how to get one where none is near."""
    found = next((it / SCHEMA for it in (SCENARIOS, SHIPPED) if (it / SCHEMA).exists()), None)
    if found is None:
        return ["# `kvlab scenario schema` prints the JSON Schema that gives an editor completion"]
    near = os.path.relpath(found.resolve(), path.resolve().parent)
    return [f"# yaml-language-server: $schema={near}"]


def _body(wanted: Wanted, target: TargetSpec, said: Mapping[str, Any]) -> list[str]:
    presets = ", ".join(PRESETS)
    hint = "" if wanted.about else " # what it asks, in one line: `kvlab scenario list` shows it"
    return [
        f"name: {wanted.name}",
        f"about: {flow(wanted.about)}{hint}",
        f"target: {flow(said['target'])} # bundled, a base URL, or a launch profile and its params",
        *_build(target, said["build"]),
        f"# kinds that this target can follow: {', '.join(kinds(target))}",
        f"# presets: {presets}",
        f"workload: {flow(said['workload'])}",
        f"engine: {flow(said['engine'])} # what every arm has; more keys: `kvlab scenario schema`",
        "arms: # each overrides `engine`; the others are held against the first",
        *(f"  - {flow(arm)}" for arm in said["arms"]),
        *_toggles(target, said["toggles"]),
        "# sweep: {concurrency: [1, 2, 4, 8]} # one number, level by level: `kvlab sweep`",
        "# expect: # by an arm's name; '*' is every other arm. `kvlab run` says where it is not so",
        '#   "*": {verdict: clean}',
        "seed: 0",
    ]


def _build(target: TargetSpec, build: Sequence[str]) -> list[str]:
    """Known faults, where the target takes any."""
    if build:
        return [f"build: {flow(build)} # known faults in the code under test: `kvlab catalog`"]
    offered = target.faults or (("padded_scatter_stale_slots",) if target.takes_build else ())
    return [f"# build: [{offered[0]}] # a known fault to find: `kvlab catalog`"] if offered else []


def _toggles(target: TargetSpec, toggles: Mapping[str, Any]) -> list[str]:
    what = "# what `kvlab bisect` may flip: bad is what you run, good what you trust"
    if toggles:
        return [f"toggles: {what}", *(f"  {key}: {flow(flip)}" for key, flip in toggles.items())]
    return [what, "# toggles:", "#   concurrency: {bad: 8, good: 1}"]
