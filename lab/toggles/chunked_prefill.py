"""`chunked_prefill`: how many prompt tokens one prefill step computes; whole pages.

Production flag: --chunked-prefill-size.
"""

from __future__ import annotations

from lab.toggles.domain import count
from lab.toggles.registry import toggle

CHUNKED_PREFILL = toggle(
    "chunked_prefill",
    count(least=256, most=65_536, multiple_of=256),
    2048,
    flag="--chunked-prefill-size",
    applies="engine",
    about="prompt tokens a prefill step",
)
