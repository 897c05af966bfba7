"""`decode_pool_pages`: pages in the device pools of the decode side; 0 takes as many as the prefill
side has (`pool_pages`).

Production flag: --max-total-tokens of the decode server, in pages of 256 tokens.
"""

from __future__ import annotations

from lab.toggles.domain import count
from lab.toggles.registry import toggle

DECODE_POOL_PAGES = toggle(
    "decode_pool_pages",
    count(least=0, most=65_536),
    0,
    flag="--max-total-tokens of the decode server, in pages of 256 tokens",
    applies="engine",
    about="pages of the decode side; 0: as the prefill side",
    needs=("pd",),
    zero="as the prefill side",
)
