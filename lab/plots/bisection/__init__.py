"""Figures of a bisection, one a module; each draws from what was concluded and what was asked.

One rule: equal probes make equal bytes; a figure says its unit and what a mark stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from lab.registry import Registry

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from lab.bisect.conclusion import Conclusion
    from lab.bisect.notebook import Probe
    from lab.bisect.space import Space

# The scenario's name, what was concluded, every probe in order, the toggles on offer.
Draw = Callable[["str", "Conclusion", "Sequence[Probe]", "Space"], "Figure | None"]
BISECTION_FIGURES: Registry[Draw] = Registry("figure", "lab.plots.bisection")
