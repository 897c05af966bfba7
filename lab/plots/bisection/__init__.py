"""Figures of a bisection, one a module; each draws from the bisection's document alone.

One rule: equal documents make equal bytes; a figure says its unit and what a mark stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from lab.registry import Registry

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Document = Mapping[str, Any]  # what `kvlab bisect --json` prints, and the database keeps
Draw = Callable[[Document], "Figure | None"]
BISECTION_FIGURES: Registry[Draw] = Registry("figure", "lab.plots.bisection")
