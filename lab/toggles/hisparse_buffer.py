"""`hisparse_buffer`: the c4 entries that a request keeps on the device; one step reads `index_topk`
of them, so it may not be smaller.

Production flag: device_buffer_size of --hisparse-config.
"""

from __future__ import annotations

from lab.toggles.domain import count
from lab.toggles.registry import toggle

HISPARSE_BUFFER = toggle(
    "hisparse_buffer",
    count(least=1, most=4096),
    128,
    flag="device_buffer_size of --hisparse-config",
    applies="engine",
    about="c4 entries that a request keeps on the device",
    needs=("hisparse",),
)
