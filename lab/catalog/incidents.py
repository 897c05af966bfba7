"""One entry for every defect and every scenario of an incident. One rule: a file is an entry.

Kinds are the defects' own. A file of ``incidents/`` whose build is healthy is a load that makes
others likelier and breaks nothing: an amplifier. One of ``hypotheses/`` is a suspicion that the
lab has cleared: falsified.
"""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.defects import catalog
from lab.catalog import arms
from lab.catalog.docs import first, sentence, told
from lab.scenario.loader import SHIPPED, listed, load_scenario

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from engine.defects import Defect
    from lab.catalog.arms import Change
    from lab.progress import Tick
    from lab.scenario.models import Scenario

KINDS = ("corrupting", "liveness", "amplifier", "latent", "dormant", "falsified")
INCIDENTS, HYPOTHESES = "incidents", "hypotheses"
CLASS = re.compile(r"((?:engine|kernels)(?:\.[a-z_]\w*)+)\.([A-Z]\w*)")


@dataclass(frozen=True)
class Incident:
    """A fault, a load or a suspicion; what is not known of it is empty."""

    name: str
    kind: str
    mechanism: str
    trigger: str
    symptom: str = ""
    origin: str = ""
    reported: str = ""  # the origin in full
    fix: str = ""
    guarantees: str = ""  # what the healthy class says of itself
    seams: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    scenario: str = ""  # the file, from the root of the repository
    about: str = ""
    verdicts: tuple[str, ...] = ()
    shown_by: tuple[str, ...] = ()  # arms
    cleared_by: tuple[Change, ...] = ()
    not_cleared_by: tuple[Change, ...] = ()
    also_in: tuple[str, ...] = ()  # files of other names whose build has it


def incidents(
    root: Path = SHIPPED, tick: Tick | None = None, only: Collection[str] | None = None
) -> list[Incident]:
    """Every entry, kind by kind; raises `ScenarioError` where a file of ``root`` does not load.

    ``tick`` hears how many files of how many were read. Of other files than those that are called
    as one of ``only`` nothing is read, so what only a file says is left out.
    """
    known = catalog()
    found = {name: _defect(known[name]) for name in known}
    for path, scenario in _loaded(root, tick, only).items():
        name, suspected = scenario.path.stem, scenario.path.parent.name == HYPOTHESES
        if not suspected:
            it = found.get(name) or _load(name, "amplifier", scenario)
            found[name] = _shown(it, path, scenario)
        elif not scenario.build:
            found[name] = _shown(_load(name, "falsified", scenario), path, scenario)
        for defect in scenario.build if suspected else ():
            found[defect] = replace(found[defect], also_in=(*found[defect].also_in, path))
    return sorted(found.values(), key=lambda it: (KINDS.index(it.kind), it.name))


def _loaded(root: Path, tick: Tick | None, only: Collection[str] | None) -> dict[str, Scenario]:
    """The scenarios by their files, from what holds ``root``: as they are typed."""
    every = [path for folder in (INCIDENTS, HYPOTHESES) for path in listed(root / folder)]
    paths = [path for path in every if only is None or path.stem in only]
    found = {}
    for done, path in enumerate(paths):
        if tick is not None:
            tick(done, len(paths))
        found[path.relative_to(root.parent).as_posix()] = load_scenario(path)
    return found


def _defect(defect: Defect) -> Incident:
    """What a defect says of itself."""
    said = told(defect.about)
    fields = {name: said.fields.get(name, "") for name in ("Trigger", "Symptom", "Origin", "Fix")}
    return Incident(
        name=defect.name,
        kind=defect.kind,
        mechanism=said.mechanism,
        trigger=fields["Trigger"],
        symptom=fields["Symptom"],
        origin=defect.origin,
        reported=fields["Origin"],
        fix=fields["Fix"],
        guarantees=guarantee(fields["Fix"]),
        seams=tuple(defect.answers),
        evidence=defect.evidence,
    )


def _load(name: str, kind: str, scenario: Scenario) -> Incident:
    """A file without a defect: what it is about, and the settings under which that was tried."""
    load, tried = scenario.workload, ", ".join(arms.spelt(arms.setting(scenario)))
    tried = f"the load {load.kind}, preset {load.preset}; {tried}"
    return Incident(name, kind, sentence(scenario.about), tried)


def _shown(incident: Incident, path: str, scenario: Scenario) -> Incident:
    """The same with what its file's arms say."""
    named = dict.fromkeys([*incident.evidence, *arms.evidence(scenario)])
    return replace(
        incident,
        evidence=tuple(named),
        scenario=path,
        about=scenario.about,
        verdicts=tuple(arms.verdicts(scenario)),
        shown_by=tuple(arm.name for arm in arms.failing(scenario)),
        cleared_by=tuple(arms.clearing(scenario) or _eased(incident, scenario)),
        not_cleared_by=tuple(arms.innocent(scenario)),
    )


def _eased(incident: Incident, scenario: Scenario) -> list[Change]:
    """A load that breaks nothing is eased by what its file would have an operator flip."""
    load = incident.kind == "amplifier" and not scenario.build
    return arms.easing(scenario) if load else []


def guarantee(fix: str) -> str:
    """The first sentence of the healthy class that a `Fix` names; empty where it names none."""
    named = CLASS.search(fix)
    return first(getattr(importlib.import_module(named[1]), named[2]).__doc__) if named else ""
