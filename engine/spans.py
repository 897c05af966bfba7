"""Spans: what took up time, for whoever draws a run.

One rule: a span is a remark, so no digest holds one, and an engine that tells none runs alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.events import EventLog, Field


def span(
    events: EventLog, track: str, name: str, start_s: float, end_s: float, **more: Field
) -> None:
    """Remark that ``name`` took up ``track`` in between; seconds of the loop's clock.

    What takes turns on a track never overlaps: an end and the next start round alike.
    """
    start_us, end_us = round(1e6 * start_s), round(1e6 * end_s)
    events.remark("span", track=track, name=name, start_us=start_us, end_us=end_us, **more)
