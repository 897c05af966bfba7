"""Every registered figure of a run, saved beside its other results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lab.errors import UserError
from lab.plots import FIGURES

if TYPE_CHECKING:
    from pathlib import Path

    from lab.records import ArmHistory, Finding, RunVerdict


def save_figures(
    verdict: RunVerdict,
    histories: Sequence[ArmHistory],
    findings: Mapping[str, Sequence[Finding]],
    folder: Path,
) -> list[Path]:
    """Draw what these records have something for, as PNG and SVG; ``findings`` by arm name.

    Raises ``UserError`` when ``folder`` cannot be written.
    """
    # Drawing is not what most commands do, and matplotlib takes a second to import.
    from lab.plots import style

    paths: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, draw in FIGURES.all().items():
            with style.styled():
                figure = draw(verdict, histories, findings)
                if figure is not None:
                    paths += style.save(figure, folder, name)
    except OSError as error:
        raise UserError(f"{folder}: cannot write figures: {error.strerror}") from error
    return paths
