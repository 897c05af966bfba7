"""Server-sent events, read strictly. One rule: anything but well-formed events raises.

The format is WHATWG's: lines of ``field: value``, an empty line ends an event. Of the fields only
``data`` carries something here; comments (``: ping``) and other fields are legal and ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from lab.driver.failures import HALF, MALFORMED, NOTHING

DONE = "[DONE]"


class BrokenStream(Exception):
    """The stream is cut, or is not a stream of JSON events."""


class SseReader:
    """Events of one stream, fed with text cut anywhere. ``chunks`` keeps the text as it came."""

    def __init__(self) -> None:
        self.chunks: list[str] = []
        self.done = False
        self._line = ""
        self._data: list[str] = []

    def feed(self, text: str) -> Iterator[dict[str, Any]]:
        """The events that ``text`` completes; raises ``BrokenStream``."""
        self.chunks.append(text)
        lines = (self._line + text).split("\n")
        self._line = lines.pop()
        for line in lines:
            event = self._take(line.removesuffix("\r"))
            if event is not None:
                yield event

    def finish(self) -> None:
        """Raise ``BrokenStream`` unless the stream said that it was done."""
        if not any(self.chunks):
            raise BrokenStream(f"{NOTHING}: the body is empty")
        if self._line.strip() or self._data:
            rest = (self._line or self._data[0])[:60]
            raise BrokenStream(f"{HALF}: cut inside an event: {rest!r}")
        if not self.done:
            raise BrokenStream(f"{HALF}: ended without {DONE}")

    def _take(self, line: str) -> dict[str, Any] | None:
        if line:
            name, _, value = line.partition(":")
            if name == "data":
                self._data.append(value.removeprefix(" "))
            elif name not in ("", "event", "id", "retry"):
                raise BrokenStream(f"{MALFORMED}: not an event: {line[:60]!r}")
            return None
        data, self._data = "\n".join(self._data), []
        if data == DONE:
            self.done = True
            return None
        if data and self.done:
            raise BrokenStream(f"{MALFORMED}: an event after {DONE}: {data[:60]!r}")
        return _parse(data) if data else None


def _parse(data: str) -> dict[str, Any]:
    try:
        event = json.loads(data)
    except (ValueError, RecursionError):
        raise BrokenStream(f"{MALFORMED}: not JSON: {data[:60]!r}") from None
    if not isinstance(event, dict):
        raise BrokenStream(f"{MALFORMED}: not an object: {data[:60]!r}")
    return event
