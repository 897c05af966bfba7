"""`poison_free_pages`: whether a page that becomes free is overwritten, so that who reads it late
reads nothing that could pass for right.

Production flag: none; memory sanitizers do this.
"""

from __future__ import annotations

from lab.toggles.domain import switch
from lab.toggles.registry import toggle

POISON_FREE_PAGES = toggle(
    "poison_free_pages",
    switch(),
    False,
    flag="none, memory sanitizers do this",
    applies="engine",
    about="overwrite pages that become free",
)
