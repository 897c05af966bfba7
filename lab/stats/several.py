"""Several tests at once. One rule: p values come back in the order in which they were given."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """P values that may each be held against one alpha, whatever hangs together (Holm 1979)."""
    from statsmodels.stats.multitest import multipletests

    if not p_values:
        return []
    adjusted = multipletests(list(p_values), method="holm")[1]
    return [float(p) for p in adjusted]
