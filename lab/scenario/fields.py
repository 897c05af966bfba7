"""The shape of a scenario file, made from the registries. One rule: a new toggle or workload
needs no line here; its own file says what it accepts, and the published schema follows.

What `engine`, `arms`, `toggles` and `sweep` may set depends on the file's target.
"""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import BaseModel, Field

from lab.scenario.campaign import BISECT, WEIGHT, bisect_keys, ladders
from lab.scenario.models import Clock, Verdict
from lab.scenario.strict import Strict, model
from lab.targets.spec import THE_BUNDLED
from lab.workloads import PRESETS, WORKLOADS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lab.targets.spec import TargetSpec
    from lab.toggles.domain import Domain
    from lab.toggles.registry import Toggle

Sessions = Annotated[int, Field(ge=1, le=100_000)]
LARGEST_SEED = 2**63 - 1  # what the database's BIGINT holds
TOGGLED = ("arrival_rate", "abort_rate")  # of the workload, but set by the toggles of these names
Round = Annotated[int, Field(ge=1, le=1000, description="arms of a round share boots")]
Name = Annotated[str, Field(min_length=1, max_length=80)]


class ExpectationFile(Strict):
    """What an arm must conclude."""

    verdict: Verdict
    violations: list[str] = Field(default_factory=list)


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


class Shape:
    """The shape of a file whose arms may set ``toggles``.

    The published schema alone gives its models a ``name`` of their own, and as ``base`` of what
    holds toggles one that takes other keys too.
    """

    def __init__(
        self, toggles: Mapping[str, Toggle], name: str = "", base: type[BaseModel] = Strict
    ) -> None:
        self.toggles, self._name, self._base = toggles, name, base

    @functools.cached_property
    def settings(self) -> type[BaseModel]:
        """The toggles, each optional."""
        fields = {
            key: (
                Annotated[t.domain.type, Field(description=f"{t.about}; in production: {t.flag}")],
                None,
            )
            for key, t in self.toggles.items()
        }
        return self._model("Settings", fields, self._base)

    @functools.cached_property
    def flips(self) -> type[BaseModel]:
        """What bisection may flip: for each toggle the bad value and the good one."""
        fields = {}
        for key, t in self.toggles.items():
            sides = {"bad": (t.domain.type, ...), "good": (t.domain.type, ...)}
            fields[key] = (self._model(f"Flip_{key}", sides), None)
        return self._model("Flips", fields, self._base)

    @functools.cached_property
    def constraints(self) -> type[BaseModel]:
        """For each toggle the others, at their bad values, without which it cannot be bad."""
        fields = dict.fromkeys(self.toggles, (self.settings, None))
        return self._model("Constraints", fields, self._base)

    @functools.cached_property
    def file(self) -> type[BaseModel]:
        """The whole file; its target is read before (`lab.scenario.target`)."""
        arm_keys = {"name": (Name, ...), "sessions": (Sessions, None), "round": (Round, 1)}
        arm = self._model("Arm", arm_keys, self.settings)
        kinds = list(workloads().values())
        load: Any = functools.reduce(operator.or_, kinds)
        if len(kinds) > 1:
            load = Annotated[load, Field(discriminator="kind")]
        keys = bisect_keys(self.toggles, self._name, self._base)
        sweep = ladders(self.toggles, self._name, self._base)
        return self._model(
            "Scenario",
            {
                "name": (Name, ...),
                "about": (str, ""),
                "build": (list[str], []),
                "target": (Any, "bundled"),
                "clock": (Clock, "virtual"),
                "workload": (load, ...),
                "engine": (self.settings, {}),
                "arms": (Annotated[list[arm], Field(min_length=1)], None),  # type: ignore[valid-type]
                "toggles": (self.flips, {}),
                "constraints": (self.constraints, {}),
                "bisect": (keys, {}),
                "sweep": (sweep, {}),
                "expect": (dict[str, ExpectationFile], {}),
                "seed": (Annotated[int, Field(ge=0, le=LARGEST_SEED)], 0),
            },
        )

    def keys_at(self, path: tuple[str | int, ...]) -> tuple[str, ...]:
        """The keys that a mapping at ``path`` may hold; empty where any key may stand.

        A workload's path ends with its kind: each kind has keys of its own.
        """
        match path:
            case ():
                return tuple(self.file.model_fields)
            case ("workload", str(kind)):
                return tuple(sorted(workloads()[kind].model_fields))
            case ("engine",) | ("toggles",) | ("constraints",) | ("constraints", _) | ("sweep",):
                return tuple(self.toggles)
            case ("bisect",):
                return (*BISECT, "weights", "ladders")
            case ("bisect", "weights" | "ladders"):
                return tuple(self.toggles)
            case ("arms", _):
                return ("name", "sessions", "round", *self.toggles)
            case ("toggles", _):
                return ("bad", "good")
            case ("expect", _):
                return tuple(ExpectationFile.model_fields)
        return ()

    def accepted_at(self, path: tuple[str | int, ...]) -> tuple[str, tuple[str, ...]]:
        """What a value at ``path`` may be: in words, and the names among which a near one is."""
        toggles = self.toggles
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
            case ("clock",):
                return ", ".join(get_args(Clock)), get_args(Clock)
        return "", ()

    def _model(
        self, name: str, fields: dict[str, Any], base: type[BaseModel] = Strict
    ) -> type[BaseModel]:
        return model(f"{self._name}{name}", fields, base)


@functools.cache
def the_bundled() -> Shape:
    """The shape of a file for the bundled engine."""
    return Shape(THE_BUNDLED.toggles)


def shape_of(target: TargetSpec) -> Shape:
    """The shape of a file for this target; raises `UserError` for a profile that is wrong."""
    return the_bundled() if target.bundled else Shape(target.toggles)


def _words(domain: Domain) -> tuple[str, tuple[str, ...]]:
    return domain.words, domain.options
