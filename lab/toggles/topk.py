"""`topk`: which selection kernel picks the compressed entries; both pick the same set.

Production flag: SGLANG_OPT_USE_TOPK_V2.
"""

from __future__ import annotations

from lab.toggles.domain import choice
from lab.toggles.registry import toggle

TOPK = toggle(
    "topk",
    choice("v1", "v2"),
    "v1",
    flag="SGLANG_OPT_USE_TOPK_V2",
    applies="engine",
    about="selection kernel",
)
