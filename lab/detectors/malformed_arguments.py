"""Arguments that are not the JSON text of one object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.surface import arguments_of, calls, excerpt, text_known, was_cut

if TYPE_CHECKING:
    from lab.records import Reply


@detector(rank=42, weakness=True)
def malformed_arguments(reply: Reply, context: Context) -> str | None:
    """A call whose arguments cannot be read, or say one thing twice."""
    if was_cut(reply) and not text_known(reply):
        return None  # its end is missing, and nobody knows how it would have gone on
    for name, text in calls(reply):
        try:
            arguments_of(text)
        except ValueError as error:
            return f"{name}: {error}: {excerpt(text)}"
    return None
