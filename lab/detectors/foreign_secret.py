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
    for word in _owned(whole(reply), context):
        sessions = context.owners[word]
        if reply.session not in sessions:
            return f"says {word!r}, which belongs to session {sessions[0]}"
    return None


def _owned(text: str, context: Context) -> list[str]:
    """The words of the load that a text has, in the order of their owners.

    A trace has words by the hundred thousand, and few lengths of them: the text is looked up.
    """
    pieces = {
        text[at : at + length]
        for length in context.lengths
        for at in range(len(text) - length + 1)
        if text[at : at + length] in context.owners
    }
    return sorted(pieces, key=context.places.__getitem__)
