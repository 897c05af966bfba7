"""`decode_index_k`: the dtype of the indexer's keys in the decode side's pool; ``same`` takes that
of the prefill side (`index_k`).

Production flag: SGLANG_DSV4_BF16_INDEX_K of the decode server.
"""

from __future__ import annotations

from lab.toggles.domain import choice
from lab.toggles.registry import toggle

DECODE_INDEX_K = toggle(
    "decode_index_k",
    choice("same", "fp8", "bf16"),
    "same",
    flag="SGLANG_DSV4_BF16_INDEX_K of the decode server",
    applies="engine",
    about="dtype of the decode side's index keys",
    needs=("pd",),
)
