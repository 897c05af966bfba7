"""The folder of a report: figures as PNG and SVG, ``report.md``, and ``report.html``, one page.

One rule: the page is made of the very figures that lie beside it. Nobody finds half a report: it is
made in a folder of its own, and its files take their places when all are there, the page first.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from lab.errors import UserError
from lab.plots import FIGURES
from lab.plots.bisection import BISECTION_FIGURES
from lab.report.figures import save_bisection_figures, save_figures
from lab.report.html import bisection, run
from lab.report.html.pictures import abouts
from lab.report.markdown import markdown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from lab.records import RunVerdict
    from lab.store import Results, StoredBisection

PAGE, MARKDOWN = "report.html", "report.md"


def write_run(results: Results, verdict: RunVerdict, folder: Path) -> Path:
    """All of a judged run's report; returns the folder. Raises `UserError`."""
    findings, histories = results.findings(verdict.run), results.histories(verdict.run)
    stored = results.run(verdict.run)
    with staged(folder) as made:
        drawn = save_figures(verdict, histories, findings, made)
        shown = images(drawn, FIGURES.all() if drawn else {})
        save(made / MARKDOWN, markdown(verdict, stored, histories, shown, findings))
        told = run.Told(verdict, stored, histories, findings, vectors(drawn))
        save(made / PAGE, run.run_page(told))
    return folder


def write_bisection(
    told: Mapping[str, Any], stored: StoredBisection, folder: Path
) -> dict[str, str]:
    """The figures and the page of a bisection; returns the images, each with its caption.

    Raises `UserError`.
    """
    drawn = save_bisection_figures(told, folder)
    save(folder / PAGE, bisection.bisection_page(bisection.Told(told, stored, vectors(drawn))))
    return images(drawn, BISECTION_FIGURES.all() if drawn else {})


@contextmanager
def staged(folder: Path) -> Iterator[Path]:
    """A folder for what is being made; at the end its files move into ``folder``, the page first.

    Raises `UserError` where that cannot be; then, and where the block fails, none is left.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder, prefix=".report-") as made:
            yield Path(made)
            for file in sorted(Path(made).iterdir(), key=lambda it: (it.name != PAGE, it.name)):
                _move(file, folder / file.name)
    except OSError as error:
        raise UserError(f"{folder}: cannot be written: {error.strerror}") from error


def _move(file: Path, to: Path) -> None:
    try:
        file.replace(to)
    except OSError as error:
        raise UserError(f"{to}: cannot be written: {error.strerror}") from error


def images(drawn: Sequence[Path], figures: Mapping[str, object]) -> dict[str, str]:
    """What markdown shows, each with its caption."""
    about = abouts(figures)
    return {path.name: about[path.stem] for path in drawn if path.suffix == ".png"}


def vectors(drawn: Sequence[Path]) -> dict[str, Path]:
    """What the page shows, by name."""
    return {path.stem: path for path in drawn if path.suffix == ".svg"}


def save(file: Path, text: str) -> None:
    """Write a file; raises `UserError` where that cannot be."""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from error
