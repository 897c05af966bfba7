"""A bisection begun, or taken up again. One rule: the stored scenario and order are what runs.

A search is pure: when it goes on it asks the same probes again, and what is stored answers first.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.bisect.parameters import Parameters
from lab.bisecting.document import document
from lab.bisecting.failing import replayed
from lab.bisecting.order import METHOD, Order, fixed, order_of, ordered, parameters
from lab.bisecting.plan import check_budget, plan
from lab.bisecting.searching import Task, WorldOf, conclude, engine_world, run
from lab.bisecting.written import check_folder, write
from lab.commands.output import note
from lab.errors import LabError, UserError
from lab.running import folder_of
from lab.scenario.loader import parse_scenario
from lab.store import RunStatus, open_results
from lab.versions import cores, versions

if TYPE_CHECKING:
    from lab.bisecting.document import Bisected
    from lab.store import Results, StoredBisection

Done = tuple[dict[str, Any], Path]  # the document, and the folder that it is written in


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
    world_of: WorldOf = engine_world,
) -> Done:
    """Bisect the scenario of ``file``, or go on with the stored one that ``resumed`` names.

    Raises `UserError` with nothing begun, `TargetError` where no trial could be driven,
    `Interrupted` on the user's word.
    """
    if resumed is None:
        return _begin(_named(file), order, place, world_of)
    if order.given:
        also = ", ".join(order.given)
        raise UserError(f"--resume {resumed}: its own arguments are stored; leave out {also}")
    with open_results(place.db, create=False) as results:
        stored = results.bisection(results.resolve_bisection(resumed))
        check_folder(place.out or place.db.parent)
        done = _resume(results, stored, file, place, world_of)
        return _written(results, done, place)


def planned(
    file: Path | None, order: Order, place: Place, resumed: str | None = None
) -> dict[str, Any]:
    """The plan's document; raises `UserError`."""
    if resumed is not None:
        raise UserError(f"--resume {resumed}: what is begun needs no --plan; leave one out")
    return plan(_named(file), order, place.db, place.jobs)


def _begin(file: Path, order: Order, place: Place, world_of: WorldOf) -> Done:
    whole = ordered(file, order)
    scenario, params = fixed(whole, order.fix), parameters(whole, order)
    check_budget(scenario, params, order)
    check_folder(place.out or place.db.parent)
    options = {**order.stored(), "file": str(file), "parameters": asdict(params)}
    with open_results(place.db) as results:
        made = results.begin_bisection(
            whole.name, whole.source, whole.seed, order.method or METHOD, options, versions()
        )
        task = Task(made, str(file), scenario, order, params, place.jobs)
        return _written(results, run(results, task, world_of), place)


def _resume(
    results: Results, stored: StoredBisection, file: Path | None, place: Place, world_of: WorldOf
) -> Bisected:
    """Go on; one that is done is concluded once more, from its trials alone."""
    task = _task(stored, file, place.jobs)
    if stored.status is RunStatus.DONE:
        note(f"bisection {stored.id} is done; this is what it concluded")
        return conclude(results, task, world_of)
    note(f"{stored.trials} trials ({stored.sessions} sessions) are stored and not run again")
    results.resume_bisection(stored.id)
    return run(results, task, world_of)


def _task(stored: StoredBisection, file: Path | None, jobs: int) -> Task:
    """What is stored, as it is run; notes what has changed since."""
    options = dict(stored.options)
    named, params = options.pop("file"), Parameters(**options.pop("parameters"))
    order = order_of(options)
    for said in _changed(stored, order, file or Path(named)):
        note(f"note: {said}")
    whole = parse_scenario(stored.yaml, f"scenario of bisection {stored.id}", here=True)
    scenario = fixed(whole, order.fix)
    return Task(stored.id, str(file or named), scenario, order, params, jobs)


def _changed(stored: StoredBisection, order: Order, file: Path) -> list[str]:
    """A line for each thing that is no more as it was when the bisection began."""
    said = []
    try:
        now = ordered(file, order)
    except LabError as error:
        said.append(f"{error}; the scenario as it was stored is what runs")
    else:
        if now.name != stored.scenario:
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


def _written(results: Results, done: Bisected, place: Place) -> Done:
    """The verdict's folder; a failing trial is shortened once, after the verdict is stored."""
    folder = folder_of(done.id, place.db, place.out)
    stored = results.bisection(done.id).verdict or {}
    told = {**document(done), "replay": stored.get("replay")}
    if told["replay"] is None and place.replay:
        told["replay"] = replayed(results, done, folder)
    results.amend_verdict(done.id, told)
    return told, write(told, results.bisection(done.id), folder)


def _named(file: Path | None) -> Path:
    if file is None:
        raise UserError("bisect: names no scenario; give SCENARIO, or --resume ID to go on")
    return file
