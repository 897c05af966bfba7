"""A well-formed call that is not the expected one: the quiet kind of corruption."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.surface import arguments_of, calls

if TYPE_CHECKING:
    from lab.records import Reply


@detector(rank=46, weakness=True)
def wrong_value(reply: Reply, context: Context) -> str | None:
    """Another tool, other arguments or another number of calls; the order of arguments is free."""
    made, expected = calls(reply), reply.expected_call
    if not made or not expected:
        return None
    if len(made) > 1:
        return f"{len(made)} calls instead of one"
    name, text = made[0]
    if name != expected["name"]:
        return f"calls {name} instead of {expected['name']}"
    try:
        given = arguments_of(text)
    except ValueError:
        return None  # malformed, which is another detector's word
    return _difference(given, expected["arguments"])


def _difference(given: dict[str, object], wanted: dict[str, object]) -> str | None:
    for key in [*wanted, *given]:
        if given.get(key) != wanted.get(key):
            return f"{key} is {given.get(key)!r} instead of {wanted.get(key)!r}"
    return None
