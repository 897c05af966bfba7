"""`pool_pages`: pages in the device pools; page 0 is reserved beside them.

Production flag: --max-total-tokens, in pages of 256 tokens.
"""

from __future__ import annotations

from lab.toggles.domain import count
from lab.toggles.registry import toggle

POOL_PAGES = toggle(
    "pool_pages",
    count(least=2, most=65_536),
    1024,
    flag="--max-total-tokens, in pages of 256 tokens",
    applies="engine",
    about="pages in the device pools",
)
