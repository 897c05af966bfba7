"""`index_topk`: how many compressed entries the indexer selects.

In a context below four times as many tokens every entry is selected, and no index key matters.
Production flag: index_topk of the model configuration.
"""

from __future__ import annotations

from lab.toggles.domain import count
from lab.toggles.registry import toggle

INDEX_TOPK = toggle(
    "index_topk",
    count(least=1, most=4096),
    64,
    flag="index_topk of the model configuration",
    applies="engine",
    about="compressed entries that the indexer selects",
)
