"""`concurrency`: how many requests the client keeps open at once.

Production flag: --max-concurrency of the load generator.
"""

from __future__ import annotations

from lab.toggles.domain import count
from lab.toggles.registry import toggle

CONCURRENCY = toggle(
    "concurrency",
    count(least=1, most=4096),
    60,
    flag="--max-concurrency of the load generator",
    applies="load",
    about="requests open at once",
)
