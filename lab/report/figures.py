"""Every registered figure of a run or a bisection, saved beside its other results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from lab.errors import UserError
from lab.plots import FIGURES
from lab.plots.bisection import BISECTION_FIGURES

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from lab.records import ArmHistory, Finding, RunVerdict

Draw = TypeVar("Draw")


def save_figures(
    verdict: RunVerdict,
    histories: Sequence[ArmHistory],
    findings: Mapping[str, Sequence[Finding]],
    folder: Path,
) -> list[Path]:
    """Draw what these records have something for, as PNG and SVG; ``findings`` by arm name.

    Raises ``UserError`` when ``folder`` cannot be written.
    """
    return _save(FIGURES.all(), lambda draw: draw(verdict, histories, findings), folder)


def save_bisection_figures(told: Mapping[str, Any], folder: Path) -> list[Path]:
    """The same of a bisection's document."""
    return _save(BISECTION_FIGURES.all(), lambda draw: draw(told), folder)


def _save(
    drawing: Mapping[str, Draw], figure_of: Callable[[Draw], Figure | None], folder: Path
) -> list[Path]:
    # Drawing is not what most commands do, and matplotlib takes a second to import.
    from lab.plots import style

    paths: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, draw in drawing.items():
            with style.styled():
                figure = figure_of(draw)
                if figure is not None:
                    paths += style.save(figure, folder, name)
    except OSError as error:
        raise UserError(f"{folder}: cannot write figures: {error.strerror}") from error
    return paths
