"""What of an arm is run: which sessions, how many turns of each, and which settings of its own.

One rule: a schedule is data that its scenario's text says in full, so whoever has the file has it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from lab.replaying.alone import alone
from lab.workloads import WORKLOADS, resolve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lab.scenario.models import Arm, Scenario

SIZES = ("sessions", "turns", "only", "only_turns")  # of a load: what a schedule says itself
KIND = "workload.kind"


class Deviation(NamedTuple):
    """A setting that is not what it would be if the file were silent; ``key`` as `--set` has it."""

    key: str
    value: Any
    silent: Any


@dataclass(frozen=True)
class Schedule:
    """Sessions by their index, the turns that each has, in the same order, and by their keys the
    deviations that are kept.
    """

    sessions: tuple[int, ...]
    turns: tuple[int, ...]
    kept: tuple[str, ...]

    def has(self, session: int, turn: int) -> bool:
        """Whether a session is run as far as a turn of it."""
        return dict(zip(self.sessions, self.turns, strict=True)).get(session, 0) > turn

    def of(self, sessions: tuple[int, ...]) -> Schedule:
        """The same with some of its sessions."""
        turns = dict(zip(self.sessions, self.turns, strict=True))
        return replace(self, sessions=sessions, turns=tuple(turns[one] for one in sessions))


@dataclass(frozen=True)
class Subject:
    """The arm whose schedule is shortened; ``deviations`` are those of its file and its own,
    ``plain`` the toggles that they spell out as they would be anyway.
    """

    scenario: Scenario
    arm: Arm
    seed: int
    whole: Schedule
    deviations: Mapping[str, Deviation]
    plain: Mapping[str, Any]

    def text(self, schedule: Schedule, name: str, expect: Mapping[str, Any]) -> str:
        """The scenario that runs ``schedule`` and nothing else; its one arm keeps its name."""
        some, every = len(schedule.sessions), len(self.whole.sessions)
        turns, of = sum(schedule.turns), sum(self.whole.turns)
        about = f"{some} of {every} sessions, {turns} of {of} turns of {self.scenario.name}"
        return alone(
            self.scenario,
            name=name,
            about=about,
            workload=self._load(schedule),
            engine={
                **self.plain,
                **{
                    key.removeprefix("engine."): self.deviations[key].value
                    for key in schedule.kept
                    if key.startswith("engine.")
                },
            },
            arm=self.arm.name,
            expect=expect,
            seed=self.seed,
        )

    def _load(self, schedule: Schedule) -> dict[str, Any]:
        load, dropped = self.scenario.workload, set(self.deviations) - set(schedule.kept)
        kind = self.deviations[KIND].silent if KIND in dropped else load.kind
        known = WORKLOADS.all()[kind].model_fields
        options = {
            key: value
            for key, value in load.options.items()
            if key in known and value is not None and f"workload.{key}" not in dropped
        }
        sizes: dict[str, Any] = {"sessions": self.scenario.sessions(self.arm)}
        cut = schedule.turns != self.whole.of(schedule.sessions).turns
        cut = cut or KIND in dropped or "only_turns" in options
        if cut or schedule.sessions != tuple(range(sizes["sessions"])):
            sizes["only"] = list(schedule.sessions)
        if cut:
            sizes["only_turns"] = list(schedule.turns)
        return {"kind": kind, "preset": load.preset, **options, **sizes}


def subject(scenario: Scenario, arm: Arm, seed: int) -> Subject:
    """The arm with its whole schedule."""
    load = scenario.workload
    plans = resolve(load.kind, load.preset, scenario.load(arm)).kept(seed)
    found = {it.key: it for it in (*_of_engine(scenario, arm), *_of_load(scenario))}
    whole = Schedule(
        sessions=tuple(plan.index for plan in plans),
        turns=tuple(len(plan.turns) for plan in plans),
        kept=tuple(found),
    )
    return Subject(scenario, arm, seed, whole, found, _plain(scenario, arm))


def _of_engine(scenario: Scenario, arm: Arm) -> list[Deviation]:
    """The toggles that the file or the arm sets otherwise than defaults and preset do."""
    base = scenario.base
    return [
        Deviation(f"engine.{key}", value, base[key])
        for key, value in scenario.settings(arm).items()
        if value != base[key]
    ]


def _plain(scenario: Scenario, arm: Arm) -> dict[str, Any]:
    """The toggles that the file, or the arm as the file has it, sets to what they are anyway."""
    written = next((it for it in scenario.arms if it.name == arm.name), arm)
    settings, base = scenario.settings(arm), scenario.base
    spelled = {**scenario.engine, **written.overrides}
    return {key: base[key] for key in spelled if key in base and settings[key] == base[key]}


def _of_load(scenario: Scenario) -> list[Deviation]:
    """What the file says of its load beyond its size; the kind last, where it is another one with
    an order of its own.
    """
    load = scenario.workload
    silent = resolve(load.kind, load.preset, {}).model_dump()
    found = [
        Deviation(f"workload.{key}", value, silent[key])
        for key, value in load.options.items()
        if key not in SIZES and value is not None and value != silent[key]
    ]
    kinds = WORKLOADS.all()
    parent = kinds[load.kind].__mro__[1]
    plain = [name for name, kind in kinds.items() if kind is parent]
    return [*found, *(Deviation(KIND, load.kind, name) for name in plain)]
