"""The folder of a report: figures as PNG and SVG, ``report.md``, and ``report.html``, one page.

One rule: the page is made of the very figures that lie beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.errors import UserError
from lab.report.figures import save_bisection_figures, save_figures
from lab.report.html import bisection, run
from lab.report.markdown import markdown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from lab.records import RunVerdict
    from lab.store import Results, StoredBisection

PAGE, MARKDOWN = "report.html", "report.md"


def write_run(results: Results, verdict: RunVerdict, folder: Path) -> Path:
    """All of a judged run's report; returns the folder. Raises `UserError`."""
    findings, histories = results.findings(verdict.run), results.histories(verdict.run)
    stored = results.run(verdict.run)
    drawn = save_figures(verdict, histories, findings, folder)
    text = markdown(verdict, stored, histories, images(drawn), findings)
    save(folder / MARKDOWN, text)
    told = run.Told(verdict, stored, histories, findings, vectors(drawn))
    save(folder / PAGE, run.run_page(told))
    return folder


def write_bisection(told: Mapping[str, Any], stored: StoredBisection, folder: Path) -> list[str]:
    """The figures and the page of a bisection; returns the names of the images.

    Raises `UserError`.
    """
    drawn = save_bisection_figures(told, folder)
    save(folder / PAGE, bisection.bisection_page(bisection.Told(told, stored, vectors(drawn))))
    return images(drawn)


def images(drawn: Sequence[Path]) -> list[str]:
    """What markdown shows."""
    return [path.name for path in drawn if path.suffix == ".png"]


def vectors(drawn: Sequence[Path]) -> dict[str, Path]:
    """What the page shows, by name."""
    return {path.stem: path for path in drawn if path.suffix == ".svg"}


def save(file: Path, text: str) -> None:
    """Write a file; raises `UserError` where that cannot be."""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from error
