"""`radix`: whether finished prefixes are kept and matched again.

Production flag: --disable-radix-cache, inverted.
"""

from __future__ import annotations

from lab.toggles.domain import switch
from lab.toggles.registry import toggle

RADIX = toggle(
    "radix",
    switch(),
    True,
    flag="--disable-radix-cache, inverted",
    applies="engine",
    about="keep and reuse prefixes on the device",
)
