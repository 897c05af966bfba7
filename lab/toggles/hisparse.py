"""`hisparse`: whether decoding keeps the c4 latents on the host and few entries on the device.

Production flag: --enable-hisparse.
"""

from __future__ import annotations

from lab.toggles.domain import switch
from lab.toggles.registry import toggle

HISPARSE = toggle(
    "hisparse",
    switch(),
    False,
    flag="--enable-hisparse",
    applies="engine",
    about="decode from a small device buffer of c4 entries",
)
