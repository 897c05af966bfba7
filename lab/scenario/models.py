"""A scenario, parsed and frozen. One rule: whatever holds one of these can be run, once installed.

A scenario file says what an arm *is*; `loader.py` turns its text into these models and every
mistake in it into one line.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from lab.targets.spec import TargetSpec

if TYPE_CHECKING:
    from lab.toggles.registry import Toggle

Verdict = Literal["clean", "corrupt", "inconclusive", "wedged", "nondeterministic", "parser_fault"]
Clock = Literal["virtual", "wall"]
EVERY_OTHER_ARM = "*"
ALL_BAD, ALL_GOOD = "every toggle bad", "every toggle good"


class Frozen(BaseModel):
    """A model that nobody changes after it was read, and that knows no other keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Workload(Frozen):
    """Which load is driven: its kind, its preset, its size, and the kind's own keys as given."""

    kind: str
    preset: str
    sessions: int
    options: dict[str, Any] = {}


class Arm(Frozen):
    """One arm: a name, perhaps its own number of sessions, and what it changes in the engine.

    Arms of another ``round`` share no boot with it.
    """

    name: str
    round: int = 1
    sessions: int | None = None
    overrides: dict[str, Any] = {}


class Flip(Frozen):
    """What bisection may flip: the suspected value and the one believed to be good."""

    bad: Any
    good: Any


class Search(Frozen):
    """What the file tells `kvlab bisect`; None takes the search's default."""

    budget: int | None = None
    unit: Literal["session", "boot", "auto"] | None = None
    batch: int | None = None
    p_min: float | None = None
    p_tol: float | None = None
    alpha: float | None = None
    outcome: Literal["corrupt", "wedged", "violated"] = "corrupt"
    boots: Literal["shared", "fresh"] = "shared"
    boot_cost: float = 0.0
    weights: dict[str, float] = {}
    ladders: dict[str, tuple[Any, ...]] = {}


class Expectation(Frozen):
    """What an arm must conclude, and the violations and faults that must be named in it."""

    verdict: Verdict
    violations: tuple[str, ...] = ()


class Scenario(Frozen):
    """One experiment. ``source`` is the YAML that it was made of, after every patch."""

    name: str
    about: str
    build: tuple[str, ...]
    target: TargetSpec
    clock: Clock
    workload: Workload
    engine: dict[str, Any]
    arms: tuple[Arm, ...]
    toggles: dict[str, Flip]
    expect: dict[str, Expectation]
    seed: int
    path: Path
    source: str
    base: dict[str, Any]  # toggle defaults under the preset's own
    constraints: dict[str, dict[str, Any]] = {}  # a toggle -> what else must be bad, at its value
    bisect: Search = Search()
    sweep: dict[str, tuple[Any, ...]] = {}  # one toggle and the values at which it is run

    @property
    def known(self) -> dict[str, Toggle]:
        """Every toggle that an arm may set on this target."""
        return self.target.toggles

    @property
    def ends(self) -> tuple[Arm, ...]:
        """The arms with every toggle bad, and with every toggle good; none without toggles."""
        if not self.toggles:
            return ()
        bad = {key: flip.bad for key, flip in self.toggles.items()}
        good = {key: flip.good for key, flip in self.toggles.items()}
        return Arm(name=ALL_BAD, overrides=bad), Arm(name=ALL_GOOD, overrides=good)

    def settings(self, arm: Arm) -> dict[str, Any]:
        """Every toggle's value in ``arm``: defaults < preset < scenario < arm."""
        return {**self.base, **self.engine, **arm.overrides}

    def sessions(self, arm: Arm) -> int:
        """How many sessions ``arm`` is due to run."""
        return self.workload.sessions if arm.sessions is None else arm.sessions

    def load(self, arm: Arm) -> dict[str, Any]:
        """What ``lab.workloads.resolve`` is given for ``arm``: the file's keys and its toggles'."""
        toggled = self.settings(arm)
        return {
            **self.workload.options,
            "sessions": self.sessions(arm),
            "arrival_rate": toggled["arrival_rate"] or None,
            "abort_rate": toggled["abort_rate"],
        }

    def expected(self, arm_name: str) -> Expectation | None:
        """What the file expects of the arm, by its name or by ``*``; None where it is silent."""
        return self.expect.get(arm_name, self.expect.get(EVERY_OTHER_ARM))
