"""All of the table, or what one name of it has to do with. One rule: two callers see one table."""

from __future__ import annotations

import difflib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lab.catalog.docs import first
from lab.catalog.incidents import Incident, incidents
from lab.catalog.names import Name, names
from lab.detectors.examine import ranked
from lab.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lab.detectors import Detector
    from lab.progress import Tick


@dataclass(frozen=True)
class Judge:
    """A detector of replies: the kind of what it finds, and what that is."""

    name: str
    kind: str
    rank: int
    finds: str


@dataclass(frozen=True)
class Catalog:
    """Incidents, the violations and faults that name them, and what judges replies."""

    incidents: tuple[Incident, ...]
    names: tuple[Name, ...]
    detectors: tuple[Judge, ...]


def whole(tick: Tick | None = None) -> Catalog:
    """The table of this checkout; raises `ScenarioError` where a scenario file does not load."""
    found = incidents(tick=tick)
    return Catalog(tuple(found), tuple(names(found)), tuple(map(_judge, ranked())))


def chosen(table: Catalog, name: str) -> Catalog:
    """One entry and what it is tied to: an incident with its evidence, or evidence with its
    incidents; raises `UserError` where nothing is called so.
    """
    known = [it.name for part in (table.incidents, table.names, table.detectors) for it in part]
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else "; `kvlab catalog` lists them"
        raise UserError(f"no incident, violation, fault or detector is called {name!r}{hint}")
    return Catalog(
        tuple(it for it in table.incidents if name in (it.name, *it.evidence)),
        tuple(it for it in table.names if name in (it.name, *it.incidents)),
        tuple(it for it in table.detectors if name == it.name),
    )


def document(table: Catalog) -> dict[str, Any]:
    """For `--json`."""
    return {
        "incidents": _plain(table.incidents),
        "names": _plain(table.names),
        "detectors": _plain(table.detectors),
    }


def _judge(detector: Detector) -> Judge:
    return Judge(detector.name, detector.kind.value, detector.rank, first(detector.look.__doc__))


def _plain(entries: Iterable[Incident | Name | Judge]) -> list[dict[str, Any]]:
    return [asdict(entry) for entry in entries]
