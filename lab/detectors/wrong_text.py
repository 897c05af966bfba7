"""The oracle: the reply's text is known before it is asked for, and one wrong byte is evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text.parser import Parsed, parse
from lab.detectors.base import Context, detector
from lab.detectors.surface import calls, excerpt, first_difference, readable, was_cut

if TYPE_CHECKING:
    from lab.records import Reply


@detector(rank=50)
def wrong_text(reply: Reply, context: Context) -> str | None:
    """The raw text, or where the target does not tell it its parts, are not the expected ones."""
    raw, expected = reply.raw_text, reply.expected_text
    if not expected or raw == expected:
        return None
    if raw is None:
        return _other_parts(reply, parse(expected, context.tools))
    at = first_difference(raw, expected)
    return f"character {at} on: {excerpt(raw, at)} instead of {excerpt(expected, at)}"


def _other_parts(reply: Reply, due: Parsed) -> str | None:
    """The first part that differs; of a reply that was cut, one that is not even a start."""
    cut = was_cut(reply)
    parts = (("content", reply.content, due.content), ("reasoning", reply.reasoning, due.reasoning))
    for part, got, wanted in parts:
        said, right = got or "", wanted or ""
        if said != right and not (cut and right.startswith(said.strip())):
            at = first_difference(said, right)
            return f"{part}, character {at} on: {excerpt(said, at)} instead of {excerpt(right, at)}"
    made, wanted_calls = calls(reply), [(call.name, call.arguments) for call in due.calls]
    if readable(made) != readable(wanted_calls) and not (cut and not made):
        return f"calls {made!r:.80} instead of {wanted_calls!r:.80}"
    return None
