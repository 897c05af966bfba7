"""A call that the reply announces and does not make."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.surface import CUT, visible

if TYPE_CHECKING:
    from lab.records import Reply

_VERB = r"\b(?:call|calling|invoke|invoking|use|using|run|running)\b"
_DENIED = re.compile(r"\b(?:not|never|cannot|can't|don't|won't|without|no need)\b[^.\n]{0,30}$")


@detector(rank=30)
def dropped_call(reply: Reply, context: Context) -> str | None:
    """An offered tool named as about to be called, and no call at all."""
    if reply.tool_calls or reply.finish_reason in CUT:
        return None
    text = f"{reply.reasoning or ''}\n{visible(reply)}"
    for name in context.tools:
        for found in re.finditer(rf"{_VERB}[^.\n]{{0,30}}\b{re.escape(name)}\b", text, re.I):
            if not _DENIED.search(text[: found.start()]):
                return f"announces {found[0]!r} and calls nothing"
    return None
