"""What a bisection was asked for. One rule: a search depends on its order and its scenario only.

It is stored with the bisection, and taken from there when that goes on.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from lab.bisect.methods import METHODS
from lab.bisect.parameters import Parameters
from lab.bisect.trials import Unit
from lab.bisect.units import first, held_to
from lab.errors import UserError
from lab.scenario.checks import texts_known, unsearchable
from lab.scenario.loader import capped, load_scenario
from lab.scenario.needs import needs
from lab.scenario.problem import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lab.scenario.models import Scenario

METHOD = "bayes"


@dataclass(frozen=True)
class Order:
    """The options of `kvlab bisect` that change what is found; None takes the scenario's word."""

    method: str | None = None
    budget: int | None = None
    unit: str | None = None
    outcome: str | None = None
    fix: tuple[str, ...] = ()
    no_confirm: bool = False
    sets: tuple[str, ...] = ()
    sessions: int | None = None
    seed: int | None = None

    @property
    def given(self) -> list[str]:
        """The options that were typed, as they are spelt."""
        spelt = {"sets": "--set", "no_confirm": "--no-confirm"}
        typed = [it.name for it in fields(self) if getattr(self, it.name) != it.default]
        return [spelt.get(name, f"--{name}") for name in typed]

    def stored(self) -> dict[str, Any]:
        """As JSON holds it."""
        return asdict(self)


def order_of(stored: Mapping[str, Any]) -> Order:
    """The inverse of `Order.stored`."""
    tuples = {key: tuple(stored[key]) for key in ("fix", "sets")}
    return Order(**{**stored, **tuples})


def check(order: Order) -> None:
    """Raise `UserError` for a method that there is not."""
    methods = METHODS.all()
    if order.method is not None and order.method not in methods:
        near = did_you_mean(order.method, methods)
        accepted = ", ".join(methods)
        raise UserError(f"--method {order.method}: no such method; accepted: {accepted}{near}")


def ordered(file: Path, order: Order) -> Scenario:
    """The scenario of the file as the order patches it, nothing fixed yet; raises `UserError`."""
    check(order)
    scenario = capped(load_scenario(file, order.sets, order.seed, here=True), order.sessions)
    if not scenario.toggles:
        accepted = "toggles: {KEY: {bad: VALUE, good: VALUE}}"
        raise UserError(f"{file}: toggles: is missing, so there is nothing to flip; add {accepted}")
    for found in unsearchable(scenario):
        raise found.error(str(scenario.path))
    return scenario


def fixed(scenario: Scenario, keys: tuple[str, ...]) -> Scenario:
    """The same with these toggles good for ever, and no more on offer; nor is what needs them.

    Raises `UserError`.
    """
    for key in keys:
        if key not in scenario.toggles:
            accepted = ", ".join(scenario.toggles)
            near = did_you_mean(key, scenario.toggles)
            raise UserError(f"--fix {key}: not on offer in `toggles`; accepted: {accepted}{near}")
    gone, needed = set(keys), needs(scenario)
    while more := {key for key in scenario.toggles if needed.get(key, frozenset()) & gone} - gone:
        gone |= more
    left = {key: flip for key, flip in scenario.toggles.items() if key not in gone}
    if not left:
        raise UserError(f"--fix {' --fix '.join(keys)}: leaves no toggle to flip; fix fewer")
    good = {key: flip.good for key, flip in scenario.toggles.items() if key in gone}
    search = scenario.bisect.model_copy(
        update={
            "weights": {key: w for key, w in scenario.bisect.weights.items() if key in left},
            "ladders": {key: ls for key, ls in scenario.bisect.ladders.items() if key in left},
        }
    )
    return scenario.model_copy(
        update={
            "engine": {**scenario.engine, **good},
            "toggles": left,
            "constraints": {key: of for key, of in scenario.constraints.items() if key in left},
            "bisect": search,
        }
    )


def parameters(scenario: Scenario, order: Order) -> Parameters:
    """The bounds of the search: the order's word, else the scenario's, else the default."""
    told = scenario.bisect
    asked = {
        "budget": told.budget if order.budget is None else order.budget,
        "unit": told.unit if order.unit is None else order.unit,
        "batch": told.batch,
        "p_min": told.p_min,
        "p_tol": told.p_tol,
        "alpha": told.alpha,
        "outcome": outcome(scenario, order),
    }
    known: dict[str, Any] = {key: value for key, value in asked.items() if value is not None}
    return Parameters(seed=scenario.seed, exact=texts_known(scenario), **known)


def outcome(scenario: Scenario, order: Order) -> str:
    """What is sought: ``corrupt``, ``wedged`` or ``violated`` sessions."""
    return order.outcome or scenario.bisect.outcome


def least(params: Parameters, batch_sessions: int) -> int:
    """Sessions without which nothing can be concluded: as many as a clean arm needs."""
    unit = first(params, batch_sessions)
    units = held_to(params, unit, batch_sessions).clean_units
    each = batch_sessions if unit is Unit.SESSION else 1
    return -(-units // each) * batch_sessions
