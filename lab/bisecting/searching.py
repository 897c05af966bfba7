"""One stored bisection, searched to its end. One rule: store, then go on.

Every trial is stored as it ends and every probe when it is complete, so an interruption loses the
trials that were running and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab import interrupts
from lab.bisect.conclusion import Verdict
from lab.bisect.notebook import Notebook
from lab.bisect.search import search
from lab.bisecting.document import Bisected, document, settings
from lab.bisecting.live import BisectLive
from lab.bisecting.order import METHOD, outcome
from lab.bisecting.remembering import Remembering
from lab.bisecting.space_of import ladders_of, space_of
from lab.bisecting.world import EngineWorld
from lab.commands.output import note
from lab.errors import Interrupted, TargetError
from lab.store import RunStatus
from lab.targets import failed

if TYPE_CHECKING:
    from pathlib import Path

    from lab.bisect.conclusion import Conclusion
    from lab.bisect.notebook import Phase, Probe, World
    from lab.bisect.parameters import Parameters
    from lab.bisect.space import Config
    from lab.bisect.trials import Outcome, Trial
    from lab.bisecting.order import Order
    from lab.scenario.models import Scenario
    from lab.store import Results

Told = Callable[["Config", "Trial"], None]  # hears of every trial as it ends
# The scenario, what is sought, processes, who is told: the world, open for as long as it is used.
WorldOf = Callable[["Scenario", str, int, Told], AbstractContextManager["World"]]


def engine_world(
    scenario: Scenario, sought: str, jobs: int, told: Told
) -> AbstractContextManager[World]:
    """Trials on the bundled engine."""
    return EngineWorld(scenario, seed=scenario.seed, outcome=sought, jobs=jobs, told=told)


def world_for(scenario: Scenario, logs: Path) -> WorldOf:
    """What trials of this scenario run on; ``logs`` takes what launched servers print."""
    if scenario.target.bundled:
        return engine_world
    from lab.bisecting.served import ServedWorld

    def served(
        scenario: Scenario, sought: str, jobs: int, told: Told
    ) -> AbstractContextManager[World]:
        return ServedWorld(scenario, logs, seed=scenario.seed, outcome=sought, told=told)

    return served


@dataclass(frozen=True)
class Task:
    """What is stored of a bisection, as it is searched; ``file`` as the user named it."""

    id: str
    file: str
    scenario: Scenario  # what is fixed at its good value
    order: Order
    params: Parameters
    jobs: int
    where: str = ""  # what a command that is offered needs besides, to find the database
    refused: Sequence[Mapping[str, Any]] = ()  # the document's, where it came to a verdict

    @property
    def again(self) -> str:
        """How it goes on."""
        return f"`kvlab bisect {self.file} --resume {self.id}{self.where}` goes on"

    @property
    def shown(self) -> str:
        """Where its verdict is."""
        return f"the verdict is stored; `kvlab report {self.id}{self.where}` shows it"

    def refusal(self, config: Config) -> str:
        """Why this configuration was refused before; else empty."""
        asked = settings(config, self.scenario.toggles)
        return next((str(it["reason"]) for it in self.refused if it["toggles"] == asked), "")


class Watched(Notebook):
    """A notebook that says what it asks, and what it was told."""

    def __init__(
        self, world: World, budget: int, live: BisectLive, save: Callable[[int, Probe], None]
    ) -> None:
        super().__init__(world, budget, self._complete)
        self._live, self._save = live, save

    def ask(self, phase: Phase, config: Config, trials: int, *, paired: bool = False) -> Outcome:
        """As any notebook does."""
        self._live.asks(phase, config, trials)
        return super().ask(phase, config, trials, paired=paired)

    def _complete(self, probe: Probe) -> None:
        self._save(len(self.probes) - 1, probe)
        self._live.told(probe, self.spent)


def run(results: Results, task: Task, world_of: WorldOf) -> Bisected:
    """Search, store, conclude; raises `TargetError`, `Interrupted`."""
    try:
        with interrupts.heard():
            done = _bisect(results, task, world_of)
            results.finish_bisection(task.id, RunStatus.DONE, document(done))
    except KeyboardInterrupt:
        raise _stopped(results, task) from None
    except TargetError as error:
        results.finish_bisection(task.id, RunStatus.FAILED)
        raise TargetError(f"{error}; {task.again}") from error
    except BaseException:
        results.finish_bisection(task.id, RunStatus.FAILED)
        raise
    return done


def _stopped(results: Results, task: Task) -> Interrupted:
    """What is told of one that the user stopped: how it goes on, or that it had just ended."""
    stored = results.bisection(task.id)
    if stored.status is RunStatus.DONE:
        return Interrupted(f"interrupted: {task.shown}")
    results.finish_bisection(task.id, RunStatus.INTERRUPTED)
    held = f"{stored.trials} trials ({stored.sessions} sessions) are stored"
    return Interrupted(f"interrupted: {held}; {task.again}")


def conclude(results: Results, task: Task, world_of: WorldOf) -> Bisected:
    """Conclude one that is done again from what is stored; raises `UserError` where it cannot."""
    only = "this kvlab would ask for trials that are not stored; bisect again without --resume"
    return _bisect(results, task, world_of, only)


def _bisect(results: Results, task: Task, world_of: WorldOf, only: str = "") -> Bisected:
    """The search over a world that answers from what is stored first."""
    live = BisectLive(tuple(task.scenario.toggles), task.params.budget)

    def keep(config: Config, trial: Trial) -> None:
        if not failed(trial.unknown):  # else it may be served next time; its probe stores it
            results.save_trial(task.id, config, trial)
        live.ended(trial)

    def save(number: int, probe: Probe) -> None:
        if not only:
            results.save_probe(task.id, number, probe)

    sought, known = outcome(task.scenario, task.order), results.trials(task.id)
    with live, world_of(task.scenario, sought, task.jobs, keep) as inner:
        world = Remembering(inner, known, only, task.refusal)
        notebook = Watched(world, task.params.budget, live, save)
        found = _search(notebook, task, live)
    if known and not only:
        note(f"{world.stored} of {world.stored + world.run} trials were stored")
    return Bisected(task.id, task.scenario, sought, task.params, notebook, found, task.where)


def _search(notebook: Notebook, task: Task, live: BisectLive) -> Conclusion:
    return search(
        notebook,
        space_of(task.scenario),
        task.params,
        task.order.method or METHOD,
        ladders_of(task.scenario),
        live.believes,
        Verdict.SUSPECT if task.order.no_confirm else Verdict.CONFIRMED,
    )
