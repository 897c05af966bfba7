"""What a server's caches held before an arm began. One rule: it is said, since no arm undoes it.

Arms ask the same sessions of the same seed, so what an arm asks for may be cached since an earlier
one, and then load and cache are changed at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.exposure import FLUSHED, FOREIGN, boot_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.records import ArmHistory


def asked_before(arm: ArmHistory, arms: Sequence[ArmHistory]) -> str:
    """Which earlier arm asked the same of the same server, whose caches nobody emptied meanwhile;
    empty where none did.
    """
    own = _of(arm, FOREIGN)
    if not own or _of(arm, FLUSHED).get("done"):
        return ""
    places = [it.name for it in arms]
    asked = _words(arm)
    for other in reversed(arms[: places.index(arm.name)]):
        same = boot_of(other) == boot_of(arm) and _of(other, FOREIGN).get("url") == own.get("url")
        if same and asked & _words(other):
            return f"asked before by {other.name!r}, caches not emptied"
    return ""


def _of(arm: ArmHistory, remark: str) -> dict[str, Any]:
    return next((fields for _, kind, fields in arm.events if kind == remark), {})


def _words(arm: ArmHistory) -> set[str]:
    """Of each session the words that are its own."""
    planned = [fields for _, kind, fields in arm.events if kind == "session_planned"]
    return {str(it["words"]) for it in planned if it.get("words")}
