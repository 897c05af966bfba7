"""What commands print. One rule: results to stdout, everything else to stderr."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console, RenderableType

if TYPE_CHECKING:
    from pathlib import Path

    from lab.records import RunVerdict
    from lab.scenario.models import Scenario

NARROWEST = 100  # columns of a table where the output is not a terminal


def show(thing: RenderableType, *, crop: bool = True) -> None:
    """Print a table or text for a person; without ``crop`` no line of it is cut."""
    console().print(thing, markup=False, highlight=False, crop=crop)


def console() -> Console:
    """Standard output; wide enough for the tables where nobody's terminal says otherwise."""
    found = Console()
    return found if found.is_terminal else Console(width=max(NARROWEST, found.width))


def show_line(text: str) -> None:
    """Print a line as it is, however long: somebody may paste it."""
    typer.echo(text)


def show_json(document: Any) -> None:
    """Print the one JSON document."""
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False))


def show_run(verdict: RunVerdict, as_json: bool, folder: Path | None = None) -> None:
    """Print a judged run: the A/B table and where its figures are, or its JSON alone."""
    from lab.report.document import document
    from lab.report.table import run_report

    if as_json:
        show_json(document(verdict))
    else:
        show(run_report(verdict))
    if folder is not None and not as_json:
        note(f"report.html, report.md and figures are in {folder}")


def show_bisection(document: Mapping[str, Any], folder: Path, as_json: bool) -> None:
    """Print what a bisection concluded and where it is written, or its document alone."""
    from lab.report.bisection import bisection_report

    if as_json:
        show_json(document)
    else:
        show(bisection_report(document))
        note(f"the verdict, its probes and report.html are in {folder}")


class BisectionTeller:
    """Prints a verdict before its replay is made, for a person need not wait for that; or the one
    JSON document when all is done.
    """

    def __init__(self, as_json: bool) -> None:
        self._as_json, self._replayed = as_json, False

    def verdict(self, document: Mapping[str, Any], folder: Path) -> None:
        """What was concluded is stored and written."""
        self._replayed = bool(document["replay"])
        if not self._as_json:
            show_bisection(document, folder, as_json=False)

    def end(self, document: Mapping[str, Any]) -> None:
        """All is done; how to see a trial fail, where that is new."""
        from lab.report.bisection_next import replay_step

        if self._as_json:
            show_json(document)
        elif not self._replayed:
            for step in replay_step(document):
                show(step)


def show_plan(document: Mapping[str, Any], as_json: bool) -> None:
    """Print what a bisection would ask, and what it would cost."""
    from lab.dry_run import dry_run_lines
    from lab.report.bisection import plan_report

    if as_json:
        show_json(document)
        return
    show(plan_report(document))
    for line in dry_run_lines(document):
        show_line(line)


def show_replay(parts: Iterable[Mapping[str, Any]], as_json: bool) -> int:
    """Print the parts of a replay as they come, or their one document; 1 where it went another way
    than it should.
    """
    from lab.replaying.report import fitted, replay_lines

    document: dict[str, Any] = {}
    for part in parts:
        document |= part
        for line in () if as_json else replay_lines(part):
            typer.echo(fitted(line, console().width))
    if as_json:
        show_json(document)
    return int(document.get("differs") is not None or not document.get("same", True))


def show_measured(
    document: Mapping[str, Any],
    table: Callable[[Mapping[str, Any]], RenderableType],
    as_json: bool,
) -> None:
    """Print a measurement's table, or its one document."""
    if as_json:
        show_json(document)
    else:
        show(table(document))


def note(text: str) -> None:
    """Say something beside the result."""
    typer.echo(text, err=True)


def note_idle(scenario: Scenario) -> None:
    """Say which settings of a scenario change nothing."""
    from lab.scenario.idle import without_effect

    for said in without_effect(scenario):
        note(f"note: {said}")


def exit_code(verdict: RunVerdict, fail_on: Sequence[str] | None) -> int:
    """3 where a target failed and the run went on, which is said in one line; 1 where an arm's
    verdict is one that the caller asked to fail on.
    """
    from lab.targets import failed

    without = [arm for arm in verdict.arms if failed(arm.reason)]
    if without:
        of = f"the target failed in {len(without)} of {len(verdict.arms)} arms"
        note(f"kvlab: {of}: {without[0].name!r}: {without[0].reason}")
        return 3
    return int(any(arm.verdict in (fail_on or ()) for arm in verdict.arms))
