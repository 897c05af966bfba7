"""The toggles: what an operator could flip. One rule: a file, a key, a production flag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from lab.registry import Registry

if TYPE_CHECKING:
    from lab.toggles.domain import Domain


@dataclass(frozen=True)
class Toggle:
    """One setting of the engine or of the load, as scenarios, ``--set`` and bisection name it.

    ``flag`` is the production option that it stands for; ``applies`` says whether flipping it needs
    another engine or only another load; without any of the switches in ``needs`` it has no effect.
    ``zero`` is what 0 stands for where it is no amount: it then lies on no side of the others.
    """

    key: str
    domain: Domain
    default: Any
    applies: Literal["engine", "load"]
    flag: str
    about: str
    needs: tuple[str, ...] = ()
    zero: str = ""


TOGGLES: Registry[Toggle] = Registry("toggle", "lab.toggles")


def toggle(
    key: str,
    domain: Domain,
    default: Any,
    *,
    flag: str,
    about: str,
    applies: Literal["engine", "load"] = "engine",
    needs: tuple[str, ...] = (),
    zero: str = "",
) -> Toggle:
    """File one toggle and return it."""
    return TOGGLES.register(key)(Toggle(key, domain, default, applies, flag, about, needs, zero))


def defaults() -> dict[str, Any]:
    """Every toggle's default by key."""
    return {key: found.default for key, found in TOGGLES.all().items()}
