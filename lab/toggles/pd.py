"""`pd`: whether one engine computes prompts and another the replies, with a wire between them.

Production flag: --disaggregation-mode, prefill and decode.
"""

from __future__ import annotations

from lab.toggles.domain import switch
from lab.toggles.registry import toggle

PD = toggle(
    "pd",
    switch(),
    False,
    flag="--disaggregation-mode, prefill and decode",
    applies="engine",
    about="one engine for prompts, one for replies, a wire between",
)
