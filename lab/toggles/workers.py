"""`workers`: the threads of the prefill side that post and await transfers; the queues share them.

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
    about="transfer threads, shared by the queues",
    needs=("pd",),
)
