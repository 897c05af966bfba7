"""A bisection begun, or taken up again. One rule: the stored scenario and order are what runs.

A search is pure: when it goes on it asks the same probes again, and what is stored answers first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab import interrupts
from lab.bisect.parameters import Parameters
from lab.bisecting.document import document
from lab.bisecting.failing import replayed
from lab.bisecting.order import METHOD, Order, fixed, order_of, ordered, parameters
from lab.bisecting.plan import check_budget, plan
from lab.bisecting.searching import Task, WorldOf, conclude, run, world_for
from lab.bisecting.written import check_folder, write
from lab.commands.output import note
from lab.errors import Interrupted, LabError, UserError
from lab.running import LOGS, folder_of
from lab.scenario.loader import parse_scenario
from lab.store import BISECTION, RunStatus, open_results
from lab.versions import cores, versions

if TYPE_CHECKING:
    from lab.bisecting.document import Bisected
    from lab.store import Results, StoredBisection

Done = tuple[dict[str, Any], Path]  # the document, and the folder that it is written in
Told = Callable[[dict[str, Any], Path], None]  # hears of the same before anything is replayed


@dataclass(frozen=True)
class Place:
    """Where a bisection is stored and written, and with how many processes it runs."""

    db: Path
    out: Path | None = None
    processes: int | None = None
    replay: bool = True  # whether a failing trial is shortened, stored and written

    @property
    def jobs(self) -> int:
        """One a core, where nobody says how many."""
        return self.processes or cores()


def perform(
    file: Path | None,
    order: Order,
    place: Place,
    resumed: str | None = None,
    world_of: WorldOf | None = None,
    told: Told = lambda document, folder: None,
) -> Done:
    """Bisect the scenario of ``file``, or go on with the stored one that ``resumed`` names.

    ``told`` hears of the verdict once that is stored and written; a replay comes after it. Raises
    `UserError` with nothing begun, `TargetError` where no trial could be driven,
    `Interrupted` on the user's word.
    """
    if resumed is None:
        return _begin(_named(file), order, place, world_of, told)
    if also := [option for option in order.given if option != "--budget"]:
        what = f"its own arguments are stored; leave out {', '.join(also)}"
        raise UserError(f"--resume {resumed}: {what}")
    with open_results(place.db, create=False, maker=BISECTION.maker) as results:
        stored = results.bisection(results.resolve_bisection(resumed))
        more = _more(stored, order.budget)
        check_folder(place.db, place.out)
        task = _task(results, stored, file, place.jobs, order.budget)
        world_of = world_of or _world(task, place)
        done = _resume(results, stored, task, world_of, more=more)
        return _written(results, done, task, place, told)


def planned(
    file: Path | None, order: Order, place: Place, resumed: str | None = None
) -> dict[str, Any]:
    """The plan's document; raises `UserError`."""
    if resumed is not None:
        raise UserError(f"--resume {resumed}: what is begun needs no --plan; leave one out")
    return plan(_named(file), order, place.db, place.jobs)


def _begin(file: Path, order: Order, place: Place, world_of: WorldOf | None, told: Told) -> Done:
    whole = ordered(file, order)
    scenario, params = fixed(whole, order.fix), parameters(whole, order)
    check_budget(scenario, params, order)
    check_folder(place.db, place.out)
    options = {**order.stored(), "file": str(file), "parameters": asdict(params)}
    options["replay"] = place.replay
    with open_results(place.db) as results:
        made = results.begin_bisection(
            whole.name, whole.source, whole.seed, order.method or METHOD, options, versions()
        )
        task = Task(made, str(file), scenario, order, params, place.jobs, results.where)
        world_of = world_of or _world(task, place)
        return _written(results, run(results, task, world_of), task, place, told)


def _world(task: Task, place: Place) -> WorldOf:
    """The world of the scenario's target; its servers' logs go where the verdict goes."""
    return world_for(task.scenario, folder_of(task.id, place.db, place.out) / LOGS)


def _more(stored: StoredBisection, budget: int | None) -> bool:
    """Whether this is more budget than it had; raises `UserError` for less."""
    had = stored.options["parameters"]["budget"]
    if budget is not None and budget < had:
        what = f"bisection {stored.id} has {had} sessions already; give more, or no --budget"
        raise UserError(f"--budget {budget}: {what}")
    return budget is not None and budget > had


def _resume(
    results: Results, stored: StoredBisection, task: Task, world_of: WorldOf, *, more: bool
) -> Bisected:
    """Go on; one that is done is concluded once more, from its trials alone, unless it may spend
    more: then the same probes are answered from what is stored, and it goes on where it ended.
    """
    if stored.status is RunStatus.DONE and not more:
        note(f"bisection {stored.id} is done; this is what it concluded")
        return conclude(results, task, world_of)
    note(f"{stored.trials} trials ({stored.sessions} sessions) are stored and not run again")
    if more:
        budget = {"parameters": asdict(task.params), "budget": task.order.budget}
        results.extend_bisection(stored.id, {**stored.options, **budget})
    else:
        results.resume_bisection(stored.id)
    return run(results, task, world_of)


def _task(
    results: Results, stored: StoredBisection, file: Path | None, jobs: int, budget: int | None
) -> Task:
    """What is stored, as it is run, with this budget; notes what has changed since."""
    options = dict(stored.options)
    options.pop("replay", None)
    named, params = options.pop("file"), Parameters(**options.pop("parameters"))
    order = order_of(options)
    if budget is not None:
        order, params = replace(order, budget=budget), replace(params, budget=budget)
    for said in _changed(stored, order, file, named):
        note(f"note: {said}")
    whole = parse_scenario(stored.yaml, f"scenario of bisection {stored.id}", here=True)
    scenario, refused = fixed(whole, order.fix), (stored.verdict or {}).get("refused", ())
    name = str(file or named)
    return Task(stored.id, name, scenario, order, params, jobs, results.where, refused)


def _changed(stored: StoredBisection, order: Order, typed: Path | None, named: str) -> list[str]:
    """A line for each thing that is no more as it was when the bisection began.

    Raises `UserError` where the user typed a file of another scenario.
    """
    said, file = [], typed or Path(named)
    try:
        now = ordered(file, order)
    except LabError as error:
        said.append(f"{error}; the scenario as it was stored is what runs")
    else:
        if typed and now.name != stored.scenario:
            raise UserError(f"{file}: is {now.name}; bisection {stored.id} is of {stored.scenario}")
        if now.source != stored.yaml:
            said.append(f"{file} has changed since; the scenario as it was stored is what runs")
    found = versions()
    other = [
        f"{name} was {was} and is {found.get(name, 'absent')}"
        for name, was in stored.versions.items()
        if found.get(name) != was
    ]
    if other:
        said.append(f"{', '.join(other)}; stored trials count as if they had been run now")
    return said


def _written(results: Results, done: Bisected, task: Task, place: Place, told: Told) -> Done:
    """The verdict's folder; whatever stops what comes after the verdict leaves that stored."""
    try:
        with interrupts.heard():
            return _told(results, done, place, told)
    except (KeyboardInterrupt, Interrupted):
        raise Interrupted(f"interrupted: {task.shown}") from None


def _told(results: Results, done: Bisected, place: Place, told: Told) -> Done:
    """Store, write and tell the verdict; then a failing trial is shortened, once."""
    folder = folder_of(done.id, place.db, place.out)
    stored = results.bisection(done.id)
    before, found = stored.verdict or {}, document(done)
    same = before.get("culprits") == found["culprits"]
    found["replay"] = before.get("replay") if same else None
    _keep(results, found, folder)
    told(found, folder)
    again = place.replay and stored.options.get("replay") and done.scenario.target.bundled
    if found["replay"] is None and again:
        try:
            found = {**found, "replay": replayed(results, done, folder)}
        except LabError as error:
            if isinstance(error, Interrupted):
                raise
            note(f"note: no failing trial is left: {error}")
    if found["replay"] is not None:
        _keep(results, found, folder)
    return found, folder


def _keep(results: Results, found: dict[str, Any], folder: Path) -> None:
    results.amend_verdict(found["bisection"], found)
    write(found, results.bisection(found["bisection"]), folder)


def _named(file: Path | None) -> Path:
    if file is None:
        raise UserError("bisect: names no scenario; give SCENARIO, or --resume ID to go on")
    return file
