"""`arrival_rate`: sessions that arrive a second; 0 lets them all arrive at once.

Production flag: --request-rate of the load generator.
"""

from __future__ import annotations

from lab.toggles.domain import rate
from lab.toggles.registry import toggle

ARRIVAL_RATE = toggle(
    "arrival_rate",
    rate(),
    0.0,
    flag="--request-rate of the load generator",
    applies="load",
    about="sessions that arrive a second; 0: all at once",
    zero="all at once",
)
