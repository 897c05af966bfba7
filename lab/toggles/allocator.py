"""`allocator`: the order in which freed pages are handed out again.

Production flag: none; freed pages go to the front.
"""

from __future__ import annotations

from lab.toggles.domain import choice
from lab.toggles.registry import toggle

ALLOCATOR = toggle(
    "allocator",
    choice("lifo", "fifo", "random"),
    "lifo",
    flag="none, freed pages go to the front",
    applies="engine",
    about="order in which freed pages are reused",
)
