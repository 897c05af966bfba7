"""`hicache_slot_page`: the tokens whose copies a host pool cuts into whole page rows; a count that
it does not divide goes token by token.

Production flag: none; slot_page_size of the host pools, 256.
"""

from __future__ import annotations

from engine.config import C128_RATIO, PAGE_TOKENS
from lab.toggles.domain import sizes
from lab.toggles.registry import toggle

HICACHE_SLOT_PAGE = toggle(
    "hicache_slot_page",
    sizes(C128_RATIO, PAGE_TOKENS),
    PAGE_TOKENS,
    flag="none, slot_page_size of the host pools",
    applies="engine",
    about="tokens that a copy cuts into whole page rows",
    needs=("hicache",),
)
