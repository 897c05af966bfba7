"""`graph`: whether decode steps replay captured static buffers, padded to a captured size.

Production flag: --disable-cuda-graph, inverted.
"""

from __future__ import annotations

from lab.toggles.domain import switch
from lab.toggles.registry import toggle

GRAPH = toggle(
    "graph",
    switch(),
    True,
    flag="--disable-cuda-graph, inverted",
    applies="engine",
    about="captured decode, padded to a captured size",
)
