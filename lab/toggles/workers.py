"""`workers`: the threads of the prefill side that post and await transfers.

Every queue has a thread of its own, however few workers there are; those beyond the number of
queues are shared out among them (8 workers: two threads for each of 4 queues, one for each of 8, or
of 32).

Production flag: SGLANG_DISAGGREGATION_THREAD_POOL_SIZE.
"""

from __future__ import annotations

from lab.toggles.domain import count
from lab.toggles.registry import toggle

WORKERS = toggle(
    "workers",
    count(least=1, most=1024),
    8,
    flag="SGLANG_DISAGGREGATION_THREAD_POOL_SIZE",
    applies="engine",
    about="transfer threads; each queue has one of its own, those beyond are shared out",
    needs=("pd",),
)
