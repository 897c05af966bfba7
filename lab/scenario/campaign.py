"""What a file may tell `kvlab bisect` and `kvlab sweep`: keys of `bisect`, ladders of values.

One rule: a key that is left out takes the search's own default (`lab.bisect.parameters`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from pydantic import Field

from lab.scenario.strict import Strict, model
from lab.toggles.domain import Domain, choice, count, number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

    from lab.toggles.registry import Toggle

BISECT: dict[str, tuple[Domain, str]] = {
    "budget": (count(1, 10_000_000), "sessions that the search may drive"),
    "unit": (choice("session", "boot", "auto"), "what is counted as corrupt or not"),
    "batch": (count(1, 1000), "units that a probe of discovery asks for, at most"),
    "p_min": (number(0.0001, 0.9), "the smallest rate sought, a unit"),
    "p_tol": (number(0.0001, 0.9), "the most that the background may have, a unit"),
    "alpha": (number(0.000001, 0.2), "the error of each phase"),
    "outcome": (
        choice("corrupt", "wedged", "violated"),
        "what is sought: wrong replies, no progress, or wrong replies and broken invariants",
    ),
    "boots": (
        choice("shared", "fresh"),
        "whether trials of one configuration share a boot of a server that is launched",
    ),
    "boot_cost": (number(0, 100_000), "what starting another configuration costs, in sessions"),
}
WEIGHT = number(0.01, 100)  # times likelier than a toggle without a weight


def bisect_keys(
    toggles: Mapping[str, Toggle], name: str = "", base: type[BaseModel] = Strict
) -> type[BaseModel]:
    """The mapping `bisect`, each key optional; ``name`` and ``base`` as of the file's shape."""
    fields: dict[str, Any] = {
        key: (Annotated[domain.type, Field(description=about)], None)
        for key, (domain, about) in BISECT.items()
    }
    likelier = "how many times likelier than the others a toggle is to blame"
    weights = model(f"{name}Weights", dict.fromkeys(toggles, (WEIGHT.type, None)), base)
    fields["weights"] = (Annotated[weights, Field(description=likelier)], None)
    levels = "the values between good and bad at which a numeric culprit is tried"
    fields["ladders"] = (Annotated[ladders(toggles, name, base), Field(description=levels)], None)
    return model(f"{name}Bisect", fields)


def ladders(
    toggles: Mapping[str, Toggle], name: str = "", base: type[BaseModel] = Strict
) -> type[BaseModel]:
    """For each toggle a list of its values."""
    fields = {key: (_values(t.domain), None) for key, t in toggles.items()}
    return model(f"{name}Ladders", fields, base)


def numeric(toggle: Toggle) -> bool:
    """Whether the toggle's values are numbers, so that some lie between others.

    A default of None leaves the choice to the server, so then its type is asked.
    """
    if toggle.default is not None:
        return type(toggle.default) in (int, float)
    kind = toggle.domain.type
    return (get_args(kind)[0] if get_origin(kind) is Annotated else kind) in (int, float)


def _values(domain: Domain) -> Any:
    value: Any = domain.type
    return Annotated[list[value], Field(min_length=1)]
