"""The shape of a scenario file, made from the registries. One rule: a new toggle or workload
needs no line here; its own file says what it accepts, and the published schema follows.
"""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import BaseModel, Field

from lab.scenario.campaign import BISECT, WEIGHT, bisect_keys, ladders
from lab.scenario.models import Clock, Verdict
from lab.scenario.strict import Strict, model
from lab.toggles import TOGGLES
from lab.workloads import PRESETS, WORKLOADS

if TYPE_CHECKING:
    from lab.toggles.domain import Domain

Sessions = Annotated[int, Field(ge=1, le=100_000)]
LARGEST_SEED = 2**63 - 1  # what the database's BIGINT holds
TOGGLED = ("arrival_rate", "abort_rate")  # of the workload, but set by the toggles of these names
Name = Annotated[str, Field(min_length=1, max_length=80)]


class ExpectationFile(Strict):
    """What an arm must conclude."""

    verdict: Verdict
    violations: list[str] = Field(default_factory=list)


@functools.cache
def settings() -> type[BaseModel]:
    """The toggles, each optional."""
    fields = {
        key: (
            Annotated[t.domain.type, Field(description=f"{t.about}; in production: {t.flag}")],
            None,
        )
        for key, t in TOGGLES.all().items()
    }
    return model("Settings", fields)


@functools.cache
def flips() -> type[BaseModel]:
    """What bisection may flip: for each toggle the bad value and the good one."""
    fields = {}
    for key, t in TOGGLES.all().items():
        flip = model(f"Flip_{key}", {"bad": (t.domain.type, ...), "good": (t.domain.type, ...)})
        fields[key] = (flip, None)
    return model("Flips", fields)


@functools.cache
def constraints() -> type[BaseModel]:
    """For each toggle the others, at their bad values, without which it cannot be bad."""
    return model("Constraints", {key: (settings(), None) for key in TOGGLES.all()})


@functools.cache
def workloads() -> dict[str, type[BaseModel]]:
    """For each kind, the keys that a file may give; a preset fills the rest."""
    made = {}
    for kind, cls in WORKLOADS.all().items():
        fields: dict[str, Any] = {
            "kind": (Literal[(kind,)], ...),
            "preset": (Literal[tuple(PRESETS)], "reference"),
        }
        for name, field in cls.model_fields.items():
            if name not in TOGGLED:
                fields[name] = (Annotated[(field.annotation, Field(), *field.metadata)], None)
        made[kind] = model(f"Workload_{kind}", {**fields, "sessions": (Sessions, None)})
    return made


@functools.cache
def scenario_file() -> type[BaseModel]:
    """The whole file."""
    arm = model("Arm", {"name": (Name, ...), "sessions": (Sessions, None)}, settings())
    kinds = list(workloads().values())
    load: Any = functools.reduce(operator.or_, kinds)
    if len(kinds) > 1:
        load = Annotated[load, Field(discriminator="kind")]
    return model(
        "Scenario",
        {
            "name": (Name, ...),
            "about": (str, ""),
            "build": (list[str], []),
            "target": (Literal["bundled"], "bundled"),
            "clock": (Clock, "virtual"),
            "workload": (load, ...),
            "engine": (settings(), {}),
            "arms": (Annotated[list[arm], Field(min_length=1)], None),  # type: ignore[valid-type]
            "toggles": (flips(), {}),
            "constraints": (constraints(), {}),
            "bisect": (bisect_keys(), {}),
            "sweep": (ladders(), {}),
            "expect": (dict[str, ExpectationFile], {}),
            "seed": (Annotated[int, Field(ge=0, le=LARGEST_SEED)], 0),
        },
    )


def keys_at(path: tuple[str | int, ...]) -> tuple[str, ...]:
    """The keys that a mapping at ``path`` may hold; empty where any key may stand.

    A workload's path ends with its kind: each kind has keys of its own.
    """
    match path:
        case ():
            return tuple(scenario_file().model_fields)
        case ("workload", str(kind)):
            return tuple(sorted(workloads()[kind].model_fields))
        case ("engine",) | ("toggles",) | ("constraints",) | ("constraints", _) | ("sweep",):
            return tuple(settings().model_fields)
        case ("bisect",):
            return tuple(bisect_keys().model_fields)
        case ("bisect", "weights" | "ladders"):
            return tuple(settings().model_fields)
        case ("arms", _):
            return ("name", "sessions", *settings().model_fields)
        case ("toggles", _):
            return ("bad", "good")
        case ("expect", _):
            return tuple(ExpectationFile.model_fields)
    return ()


def accepted_at(path: tuple[str | int, ...]) -> tuple[str, tuple[str, ...]]:
    """What a value at ``path`` may be: in words, and the names among which to seek a near one."""
    toggles = TOGGLES.all()
    match path:
        case ("engine" | "sweep", str(key), *_) | ("arms" | "constraints", _, str(key)):
            if key in toggles:
                return _words(toggles[key].domain)
        case ("toggles", str(key), _) | ("bisect", "ladders", str(key), *_):
            if key in toggles:
                return _words(toggles[key].domain)
        case ("bisect", "weights", _):
            return _words(WEIGHT)
        case ("bisect", str(key)) if key in BISECT:
            return _words(BISECT[key][0])
        case ("workload", "kind"):
            return ", ".join(workloads()), tuple(workloads())
        case ("workload", "preset"):
            return ", ".join(PRESETS), tuple(PRESETS)
        case ("expect", _, "verdict"):
            return ", ".join(get_args(Verdict)), get_args(Verdict)
        case ("target",):
            return "bundled", ("bundled",)
        case ("clock",):
            return ", ".join(get_args(Clock)), get_args(Clock)
    return "", ()


def _words(domain: Domain) -> tuple[str, tuple[str, ...]]:
    return domain.words, domain.options
