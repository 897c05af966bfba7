"""`overlap`: whether step N is launched before step N-1 is processed.

Production flag: --disable-overlap-schedule, inverted.
"""

from __future__ import annotations

from lab.toggles.domain import switch
from lab.toggles.registry import toggle

OVERLAP = toggle(
    "overlap",
    switch(),
    False,
    flag="--disable-overlap-schedule, inverted",
    applies="engine",
    about="schedule one step ahead",
)
