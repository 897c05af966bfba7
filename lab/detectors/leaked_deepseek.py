"""DeepSeek V3 and R1: `<｜tool▁calls▁begin｜>` and its kin, shown to the user as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.surface import leaked, markers

if TYPE_CHECKING:
    from lab.records import Reply

_MARKER = markers("<[｜|]tool▁(?:calls?|outputs?)▁(?:begin|end)[｜|]>", "<[｜|]tool▁sep[｜|]>")


@detector(rank=20, weakness=True)
def leaked_deepseek(reply: Reply, context: Context) -> str | None:
    """A token of a block of calls, outside code literals. DSML is ``leaked_markup``'s."""
    return leaked(reply, _MARKER, "DeepSeek markup")
