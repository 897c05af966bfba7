"""A turn that was due and never sent, or whose reply was cut while nothing was wrong with it.

One rule: what the server aborted is unfinished, whatever is known of its text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.detectors.base import Context, Kind, detector
from lab.detectors.examine import cut_short
from lab.detectors.surface import finished, text_known, was_cut

if TYPE_CHECKING:
    from lab.records import Reply


@detector(rank=74, kind=Kind.UNFINISHED)
def unfinished(reply: Reply, context: Context) -> str | None:
    """Never sent though due, left by its client, aborted, or cut while still right."""
    if reply.status in ("not_sent", "aborted"):
        return reply.error or reply.status
    if reply.status == "ok" and not finished(reply):
        return f"aborted by the server after {reply.completion_tokens} tokens"
    if reply.status == "ok" and cut_short(reply):
        return f"cut after {reply.completion_tokens} tokens, right so far"
    if reply.status == "ok" and was_cut(reply) and not text_known(reply):
        return f"cut after {reply.completion_tokens} tokens; what was to come is not known"
    return None
