"""Another session's words in a reply: the proof that its pages were read, or it read theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.surface import whole

if TYPE_CHECKING:
    from lab.records import Reply


@detector(rank=10)
def foreign_secret(reply: Reply, context: Context) -> str | None:
    """A word that only other sessions may say."""
    text = whole(reply)
    for word, sessions in context.owners.items():
        if word in text and reply.session not in sessions:
            return f"says {word!r}, which belongs to session {sessions[0]}"
    return None
