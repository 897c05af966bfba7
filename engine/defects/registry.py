"""What defects there are, and which seams a build takes from them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from engine.errors import ConfigError
from engine.seams import SEAMS, Seams

Kind = Literal["corrupting", "liveness", "amplifier", "dormant", "latent", "falsified"]
C = TypeVar("C", bound=type)
_KNOWN: dict[str, Defect] = {}


@dataclass(frozen=True)
class Defect:
    """One fault: the seams that it takes over, where it was first seen, what it does."""

    name: str
    kind: Kind
    origin: str
    answers: dict[str, type]
    about: str  # its module's docstring: Origin, Trigger, Symptom, Fix
    evidence: tuple[str, ...]  # the violations that name it


def defect(
    *, seam: str, origin: str, kind: Kind, evidence: Sequence[str] = (), **more: type
) -> Callable[[C], C]:
    """Register a class as the answer to ``seam``; ``more`` maps further seams to classes."""

    def register(cls: C) -> C:
        module = importlib.import_module(cls.__module__)
        name = cls.__module__.rsplit(".", 1)[-1]
        answers: dict[str, type] = {seam: cls, **more}
        unknown = [key for key in answers if key not in SEAMS]
        if unknown or name in _KNOWN:
            raise ConfigError(f"defect {name}: registered twice, or unknown seam {unknown}")
        _KNOWN[name] = Defect(name, kind, origin, answers, module.__doc__ or "", tuple(evidence))
        return cls

    return register


def catalog() -> dict[str, Defect]:
    """Every defect by name, in alphabetical order."""
    package = importlib.import_module("engine.defects")
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        importlib.import_module(f"engine.defects.{info.name}")
    return dict(sorted(_KNOWN.items()))


def seams(build: Sequence[str]) -> Seams:
    """The seams of a build; ``ConfigError`` on an unknown defect or two that answer one seam."""
    known, taken = catalog(), dict[str, Any]()
    for name in build:
        if name not in known:
            raise ConfigError(f"unknown defect {name!r}; known: {', '.join(known)}")
        for seam, cls in known[name].answers.items():
            if taken.setdefault(seam, cls) is not cls:
                raise ConfigError(f"defect {name!r} and another of the build both answer {seam!r}")
    return replace(Seams(), **taken)
