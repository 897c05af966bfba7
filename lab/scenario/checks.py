"""What a well-formed scenario can still get wrong. One rule: a check yields, it never raises."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from pydantic import ValidationError

from engine.config import PAGE_TOKENS, EngineConfig
from engine.defects import catalog
from engine.devices import check_device
from engine.disagg.wires import check_wire
from engine.errors import ConfigError
from engine.shapes import check_peers
from lab.exposure import FAULTS
from lab.memory import too_large
from lab.scenario.complaints import problem
from lab.scenario.models import EVERY_OTHER_ARM, Arm, Expectation, Scenario
from lab.scenario.placed import Placed, placed
from lab.scenario.problem import Path, Problem
from lab.scenario.searching import check_search
from lab.toggles import to_engine_config
from lab.workloads import resolve

BOOKS = "page_books_broken"  # any engine may break them, whatever its build
SIZES = (
    *("host_ratio", "decode_pool_pages", "pool_pages", "hicache", "hisparse"),
    *("tp", "pd"),
)


def check(scenario: Scenario) -> Iterator[Problem]:
    """Every mistake that only the whole scenario shows."""
    yield from _arms(scenario)
    yield from _build(scenario)
    yield from check_search(scenario)
    yield from _expectations(scenario)
    yield from _clock(scenario)
    for one in placed(scenario):
        if not (scenario.arms and one.arm in scenario.ends):
            yield from _sizes(scenario, one)


def unsearchable(scenario: Scenario) -> Iterator[Problem]:
    """Why a search cannot begin: an end of the toggles that cannot be run.

    The arms of the file may be run all the same, so this is no mistake until somebody bisects.
    """
    if scenario.clock == "wall" and scenario.target.bundled:
        yield Problem(("clock",), "a search runs trials again, which no wall clock does", "virtual")
    yield from no_device(scenario)
    for one in placed(scenario):
        if one.arm in scenario.ends:
            yield from _sizes(scenario, one)


def missing(scenario: Scenario) -> Iterator[Problem]:
    """What the load, or the first such arm, needs and is not here: it can be read, and not run."""
    yield from _data(scenario)
    for one in _spelled(scenario):
        found = list(_absent(scenario, one))
        yield from found
        if found:
            return


def _data(scenario: Scenario) -> Iterator[Problem]:
    """The load's own data, where it cannot be read."""
    load = scenario.workload
    for one in islice(placed(scenario), 1):
        if why := resolve(load.kind, load.preset, scenario.load(one.arm)).lacks():
            yield Problem(("workload", "data"), why)


def _spelled(scenario: Scenario) -> list[Placed]:
    """The arms that run in this process: what another server needs, it says itself."""
    arms = (scenario.arms or scenario.ends) if scenario.target.bundled else ()
    return [one for one in placed(scenario) if one.arm in arms]


def _absent(scenario: Scenario, one: Placed) -> Iterator[Problem]:
    """What is not installed here of what the arm needs."""
    settings = scenario.settings(one.arm)
    try:
        if settings["pd"]:
            check_wire(settings["wire"])
    except ConfigError as error:
        yield _at(scenario, one, str(error), error.keys)


def no_device(scenario: Scenario) -> Iterator[Problem]:
    """The first arm whose device this machine lacks. A file is none the worse for it elsewhere."""
    for one in _spelled(scenario):
        found = list(_elsewhere(scenario, one))
        yield from found
        if found:
            return


def _elsewhere(scenario: Scenario, one: Placed) -> Iterator[Problem]:
    try:
        check_device(scenario.settings(one.arm)["device"])
    except ConfigError as error:
        yield _at(scenario, one, str(error), error.keys)


def refusal(scenario: Scenario, arm: Arm) -> str:
    """Why this arm cannot be run here, in one line; empty where it can, or only trying tells."""
    if not scenario.target.bundled:
        return ""
    one = Placed(arm, ())
    every = _sizes(scenario, one), _absent(scenario, one), _elsewhere(scenario, one)
    for found in chain.from_iterable(every):
        return f"{found.what}; accepted: {found.accepted}" if found.accepted else found.what
    return ""


def _arms(scenario: Scenario) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for index, arm in enumerate(scenario.arms):
        first = seen.setdefault(arm.name, index)
        if first != index:
            what = f"{arm.name!r} names arm {first} already; an arm's name is its own"
            yield Problem(("arms", index, "name"), what)
        if arm.name == EVERY_OTHER_ARM:
            yield Problem(("arms", index, "name"), "'*' stands for every other arm in `expect`")


def _clock(scenario: Scenario) -> Iterator[Problem]:
    if scenario.clock == "virtual" and not scenario.target.bundled:
        yield Problem(("clock",), "a server of its own has the wall's clock only", "wall")


def _build(scenario: Scenario) -> Iterator[Problem]:
    target, ours = scenario.target, scenario.target.takes_build
    if scenario.build and not ours and not target.faults:
        what = f"{target.name} takes no build: its server is what it is"
        yield Problem(("build",), what, "none, or the target bundled or kvlab_serve")
    elif len(scenario.build) > 1 and not ours:
        yield Problem(("build",), f"{target.name} takes one fault at a time")
    known = tuple(catalog()) if ours else target.faults or tuple(catalog())
    for index, name in enumerate(scenario.build):
        if name not in known:
            yield Problem(
                ("build", index), f"unknown defect {name!r}", ", ".join(known), name, known
            )
        elif name in scenario.build[:index]:
            yield Problem(("build", index), f"{name!r} is in the build twice")


def _expectations(scenario: Scenario) -> Iterator[Problem]:
    names = (*(arm.name for arm in scenario.arms), EVERY_OTHER_ARM)
    for name in scenario.expect:
        if name not in names:
            accepted = ", ".join(repr(known) for known in names)
            yield Problem(("expect", name), "no arm has this name", accepted, name, names)
    for name, expectation in scenario.expect.items():
        yield from _violations(("expect", name, "violations"), expectation)


def _violations(path: Path, expectation: Expectation) -> Iterator[Problem]:
    """Whether some engine can name these violations, and the verdict that they make is expected.

    A fault goes with any verdict: clients that ask again are served in spite of it, and an engine
    that made no progress may have got on.
    """
    evidence = {name for defect in catalog().values() for name in defect.evidence}
    known = tuple(sorted({*evidence, *FAULTS, BOOKS}))
    for index, name in enumerate(expectation.violations):
        if name not in known:
            what = f"unknown violation {name!r}"
            yield Problem((*path, index), what, ", ".join(known), name, known)
    if set(expectation.violations) - set(FAULTS) and expectation.verdict != "corrupt":
        what = f"an arm with violations is corrupt, and {expectation.verdict} is expected"
        yield Problem(path, what, "none, or the verdict corrupt")


def _sizes(scenario: Scenario, one: Placed) -> Iterator[Problem]:
    """Whether the arm's load can be made, and its engine can hold one conversation of it."""
    settings = scenario.settings(one.arm)
    load = scenario.workload
    if not scenario.target.bundled:
        yield from _load(scenario, one)
        return
    try:
        config = to_engine_config(settings, build=scenario.build, seed=scenario.seed)
        check_peers(config)
        workload = resolve(load.kind, load.preset, scenario.load(one.arm))
    except ConfigError as error:
        yield _at(scenario, one, str(error), error.keys)
        return
    except ValidationError as error:
        yield replace(problem(error.errors()[0]), path=("workload",))
        return
    longest, (pool, pages) = workload.longest_context(), _smaller_pool(config)
    if beyond := workload.beyond_bundled():
        yield Problem(("workload",), beyond)
    elif longest > config.model.max_context:
        what = f"a conversation can reach {longest} tokens; the model's context is"
        yield Problem(("workload",), f"{what} {config.model.max_context}")
    elif -(-longest // PAGE_TOKENS) > pages:
        needed = -(-longest // PAGE_TOKENS)
        what = f"{pages} pages hold {pages * PAGE_TOKENS} tokens, one conversation can reach"
        blame = _blame(scenario, one, pool)
        yield Problem(blame, f"{what} {longest}", f"at least {needed}")
    elif config.model.index_topk < (least := workload.least_topk()):
        what = f"index_topk is {config.model.index_topk}: too few for manuals of this load, so that"
        blame = _blame(scenario, one, "index_topk")
        yield Problem(blame, f"{what} a healthy engine would miss entries", f"at least {least}")
    elif (large := too_large(config)) is not None:
        yield _at(scenario, one, large, SIZES)


def _load(scenario: Scenario, one: Placed) -> Iterator[Problem]:
    """Whether the arm's load can be made, and followed where it is our engine that is launched."""
    load = scenario.workload
    try:
        workload = resolve(load.kind, load.preset, scenario.load(one.arm))
    except ValidationError as error:
        yield replace(problem(error.errors()[0]), path=("workload",))
        return
    if scenario.target.takes_build and (beyond := workload.beyond_bundled()):
        yield Problem(("workload",), beyond)


def texts_known(scenario: Scenario) -> bool:
    """Whether every reply of the load is known word for word, so that a checker never errs."""
    load = scenario.workload
    plans = resolve(load.kind, load.preset, load.options | {"sessions": load.sessions}).kept(0)
    return all(turn.expected_text for plan in plans for turn in plan.turns)


def _smaller_pool(config: EngineConfig) -> tuple[str, int]:
    """The key and the pages of the smaller pool: each side of a pair keeps a whole conversation."""
    if config.pd and 0 < config.decode_pool_pages < config.pool_pages:
        return "decode_pool_pages", config.decode_pool_pages
    return "pool_pages", config.pool_pages


def _at(scenario: Scenario, one: Placed, said: str, keys: Sequence[str]) -> Problem:
    """At the settings that do not go together: the arm's own are to blame before the engine's."""
    given = [key for key in keys if key in one.own]
    given += [key for key in keys if key in scenario.engine and key not in given]
    first, *others = [_blame(scenario, one, key) for key in given] or [one.place]
    return Problem(first, said, others=tuple(others))


def _blame(scenario: Scenario, one: Placed, key: str) -> Path:
    """Where ``key`` got its value: in the arm, in the engine's settings, or from the preset."""
    if key in one.own:
        return one.own[key]
    return ("engine", key) if key in scenario.engine else ("workload",)
