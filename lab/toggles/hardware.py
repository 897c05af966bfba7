"""`hardware`: whose rates the virtual clock goes by.

Production flag: none; the machine.
"""

from __future__ import annotations

from engine.runner.step_cost import PRESETS
from lab.toggles.domain import choice
from lab.toggles.registry import toggle

HARDWARE = toggle(
    "hardware",
    choice(*PRESETS),
    "h200",
    flag="none, the machine",
    applies="engine",
    about="whose rates the virtual clock goes by",
)
