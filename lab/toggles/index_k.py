"""`index_k`: the dtype of the indexer's keys in the pool. fp8 rows carry a scale, bf16 rows do not.

Production flag: SGLANG_DSV4_BF16_INDEX_K.
"""

from __future__ import annotations

from lab.toggles.domain import choice
from lab.toggles.registry import toggle

INDEX_K = toggle(
    "index_k",
    choice("fp8", "bf16"),
    "fp8",
    flag="SGLANG_DSV4_BF16_INDEX_K",
    applies="engine",
    about="dtype of the indexer's keys",
)
