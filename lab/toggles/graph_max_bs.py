"""`graph_max_bs`: the largest captured batch, in rows; larger batches run eager.

Production flag: --cuda-graph-max-bs.
"""

from __future__ import annotations

from lab.toggles.domain import count
from lab.toggles.registry import toggle

GRAPH_MAX_BS = toggle(
    "graph_max_bs",
    count(least=1, most=4096),
    64,
    flag="--cuda-graph-max-bs",
    applies="engine",
    about="largest captured batch, in rows",
    needs=("graph",),
)
