"""`logits_width`: c4 entries for which a row of the indexer's logits has room; 0: as many as the
longest context needs. At 1,048,576 tokens of context production's rows are 262,144 entries wide.

Rows x width is what an offset into the logits counts to. A step here has fewer rows than the 8,192
of a prefill there, so a wider row stands for more of them: 64 x 33,554,432 is 8,192 x 262,144.
Production flag: --context-length, over 4.
"""

from __future__ import annotations

from lab.toggles.domain import count
from lab.toggles.registry import toggle

LOGITS_WIDTH = toggle(
    "logits_width",
    count(least=0, most=1 << 30),
    0,
    flag="--context-length, over 4",
    applies="engine",
    about="entries a row of the indexer's logits",
    zero="as wide as the longest context needs",
)
