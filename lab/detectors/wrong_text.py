"""The oracle: the reply's text is known before it is asked for, and one wrong byte is evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.surface import excerpt, first_difference

if TYPE_CHECKING:
    from lab.records import Reply


@detector(rank=50)
def wrong_text(reply: Reply, context: Context) -> str | None:
    """The raw text is known and is not the expected one."""
    raw, expected = reply.raw_text, reply.expected_text
    if raw is None or not expected or raw == expected:
        return None
    at = first_difference(raw, expected)
    return f"character {at} on: {excerpt(raw, at)} instead of {excerpt(expected, at)}"
