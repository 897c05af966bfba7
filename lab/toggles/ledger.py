"""`ledger`: how closely the shadow memory looks at the rows that are read and written. It finds the
first bad read, and changes nothing that is served.

Production flag: none; thread and memory sanitizers do this.
"""

from __future__ import annotations

from lab.toggles.domain import choice
from lab.toggles.registry import toggle

LEDGER = toggle(
    "ledger",
    choice("off", "tags", "full"),
    "tags",
    flag="none, sanitizers do this",
    applies="engine",
    about="how closely rows are watched",
)
