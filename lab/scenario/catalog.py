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
from lab.scenario.loader import SCENARIOS, SHIPPED, listed, load_scenario

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


def every(root: Path | None = None) -> list[Entry]:
    """The scenarios under ``root``; by default those that ship and those of the user's own folder.

    Raises `ScenarioError` where there is no such folder.
    """
    if root is not None:
        return catalog(root)
    roots = [root for root in (SCENARIOS, SHIPPED) if root.is_dir()]
    if len(roots) == 2 and SCENARIOS.samefile(SHIPPED):
        roots.pop()
    return [one for root in roots or [SCENARIOS] for one in catalog(root)]


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


def catalog_table(entries: Sequence[Entry]) -> RenderableType:
    """For a person: folder by folder, each scenario by the name that the other commands take."""
    if not entries:
        return Text("No scenario yet: `kvlab scenario new` writes one.")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("scenario", no_wrap=True)
    for head in ("arms", "sessions"):
        table.add_column(head, justify="right")
    table.add_column("about", overflow="fold")
    folder = None
    for one in entries:
        if one.path.parent != folder:
            folder = one.path.parent
            table.add_row(Text(f"{_near(folder)}/", style="bold"))
        table.add_row(*_row(one))
    return table


def _row(one: Entry) -> tuple[Text, str, str, Text]:
    found, name = one.scenario, Text(f"  {one.path.stem}")
    if found is None:
        return name, "–", "–", Text(one.problem, style="red")
    first = Text((found.about or found.name).strip().partition("\n")[0])
    if not found.arms:
        return name, *_campaign(found), first
    sessions = sum(found.sessions(arm) for arm in found.arms)
    return name, str(len(found.arms)), str(sessions), first


def _campaign(found: Scenario) -> tuple[str, str]:
    """Which command makes the arms of a file that has none, and of what."""
    if found.toggles:
        many = len(found.toggles)
        return "bisect", f"{many} toggles" if many > 1 else "1 toggle"
    return ("sweep", "by level") if found.sweep else ("0", "0")


def _near(folder: Path) -> Path:
    """The folder as it is seen from here."""
    here = type(folder).cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder
