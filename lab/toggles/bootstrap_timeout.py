"""`bootstrap_timeout`: seconds that the prefill side waits to be told the pages of a room; then the
room has failed.

Production flag: SGLANG_DISAGGREGATION_BOOTSTRAP_TIMEOUT.
"""

from __future__ import annotations

from lab.toggles.domain import seconds
from lab.toggles.registry import toggle

BOOTSTRAP_TIMEOUT = toggle(
    "bootstrap_timeout",
    seconds(),
    300.0,
    flag="SGLANG_DISAGGREGATION_BOOTSTRAP_TIMEOUT",
    applies="engine",
    about="seconds that a room may wait to be told its pages",
    needs=("pd",),
)
