"""`deferred_release`: whether the decode side keeps the pages of a failed room until the prefill
side says that it writes them no more.

Production flag: SGLANG_DISAGGREGATION_DEFERRED_DECODE_KV_RELEASE.
"""

from __future__ import annotations

from lab.toggles.domain import switch
from lab.toggles.registry import toggle

DEFERRED_RELEASE = toggle(
    "deferred_release",
    switch(),
    False,
    flag="SGLANG_DISAGGREGATION_DEFERRED_DECODE_KV_RELEASE",
    applies="engine",
    about="keep a failed room's pages until its writer is done",
    needs=("pd",),
)
