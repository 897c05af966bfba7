"""Figures of a run, one a module; each draws from the verdict, the histories and the findings.

One rule: a figure states its units, its n and its interval, and equal records make equal bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from lab.registry import Registry

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from lab.records import ArmHistory, Finding, RunVerdict

Draw = Callable[
    ["RunVerdict", "Sequence[ArmHistory]", "Mapping[str, Sequence[Finding]]"], "Figure | None"
]
# A figure's name is its file's; None means that these records have nothing for it to show.
FIGURES: Registry[Draw] = Registry("figure", "lab.plots")
