"""Scenario files as a list. One rule: a file that does not load is listed with its mistake."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from lab.errors import ScenarioError, UserError
from lab.scenario.idle import without_effect
from lab.scenario.loader import SCENARIOS, listed, load_scenario

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType

    from lab.scenario.models import Scenario


@dataclass(frozen=True)
class Entry:
    """A file: the scenario that it holds, or the line that says what is wrong with it."""

    path: Path
    scenario: Scenario | None
    problem: str = ""

    @property
    def notes(self) -> list[str]:
        """What the file says in vain."""
        return without_effect(self.scenario) if self.scenario else []

    def document(self) -> dict[str, Any]:
        """The entry for `--json`."""
        found = self.scenario
        return {
            "path": str(self.path),
            "name": found.name if found else None,
            "about": found.about if found else None,
            "build": list(found.build) if found else None,
            "arms": [arm.name for arm in found.arms] if found else None,
            "problem": self.problem or None,
            "notes": self.notes,
        }


def catalog(root: Path = SCENARIOS, sets: Sequence[str] = (), *, here: bool = False) -> list[Entry]:
    """Every scenario under ``root``; raises `ScenarioError` where that is no folder."""
    if not root.is_dir():
        raise ScenarioError(f"{root}: no such folder; --root names the one to search")
    return [entry(path, sets, here=here) for path in listed(root)]


def check_files(files: Sequence[Path], sets: Sequence[str] = ()) -> list[Entry]:
    """The named files, or every file under `scenarios/`; a folder stands for what it holds.

    What is not installed here is a mistake too.
    """
    if not files:
        return catalog(SCENARIOS, sets, here=True)
    found = [path for given in files for path in (listed(given) if given.is_dir() else [given])]
    return [entry(path, sets, here=True) for path in found]


def entry(path: Path, sets: Sequence[str] = (), *, here: bool = False) -> Entry:
    """One file, loaded or not; ``here``: only where its arms can be run here."""
    try:
        return Entry(path, load_scenario(path, sets, here=here))
    except UserError as error:
        return Entry(path, None, str(error))


def catalog_table(entries: Sequence[Entry], root: Path) -> RenderableType:
    """For a person."""
    if not entries:
        return Text(f"No scenario under {root}.")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column(f"{root}/", no_wrap=True)
    for head in ("arms", "sessions"):
        table.add_column(head, justify="right")
    table.add_column("about", overflow="fold")
    for one in entries:
        found, file = one.scenario, Text(str(one.path.relative_to(root)))
        if found is None:
            table.add_row(file, "–", "–", Text(one.problem, style="red"))
            continue
        sessions = sum(found.sessions(arm) for arm in found.arms)
        about = Text(found.about or found.name)
        table.add_row(file, str(len(found.arms)), str(sessions), about)
    return table
