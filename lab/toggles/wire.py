"""`wire`: what moves pages from the prefill side to the decode side. ``inproc`` copies inside this
process, ``nixl`` asks the library that production uses.

Production flag: --disaggregation-transfer-backend, SGLANG_DISAGGREGATION_NIXL_BACKEND.
"""

from __future__ import annotations

from lab.toggles.domain import choice
from lab.toggles.registry import toggle

WIRE = toggle(
    "wire",
    choice("inproc", "nixl"),
    "inproc",
    flag="--disaggregation-transfer-backend, SGLANG_DISAGGREGATION_NIXL_BACKEND",
    applies="engine",
    about="what moves pages between the sides",
    needs=("pd",),
)
