"""The text is what the model wrote, and the parse is not what the text says.

The raw text is parsed again, whole and in pieces of several sizes: what was received must be what
the text says, and how it is cut must change nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text.parser import Parsed, StreamParser, collect, parse
from lab.detectors.base import Context, Kind, detector
from lab.detectors.surface import calls, readable, was_cut

if TYPE_CHECKING:
    from lab.records import Reply

CHUNKS = (1, 2, 3, 5)  # characters; stream intervals at which a marker is split in every way


@detector(rank=60, kind=Kind.PARSER_FAULT)
def parser_fault(reply: Reply, context: Context) -> str | None:
    """The received parts differ from the raw text's own parse, or the parse from itself."""
    if reply.raw_text is None or was_cut(reply):
        return None
    once = parse(reply.raw_text, context.tools)
    return _received_otherwise(reply, once) or _cut_otherwise(reply.raw_text, once, context)


def _received_otherwise(reply: Reply, once: Parsed) -> str | None:
    if (reply.content or "") != (once.content or ""):
        return f"content {reply.content!r:.60} instead of {once.content!r:.60}"
    if (reply.reasoning or "") != (once.reasoning or ""):
        return f"reasoning {reply.reasoning!r:.60} instead of {once.reasoning!r:.60}"
    if readable(calls(reply)) != readable([(c.name, c.arguments) for c in once.calls]):
        return f"calls {calls(reply)!r:.80} instead of {once.calls!r:.80}"
    expected = "tool_calls" if once.calls else "stop"
    if reply.finish_reason != expected:
        return f"finish_reason {reply.finish_reason} instead of {expected}"
    return None


def _cut_otherwise(raw: str, once: Parsed, context: Context) -> str | None:
    for size in CHUNKS:
        parser = StreamParser(context.tools)
        pieces = (raw[at : at + size] for at in range(0, len(raw), size))
        deltas = [delta for piece in pieces for delta in parser.feed(piece)]
        if collect(deltas + parser.finish(), parser.problem) != once:
            return f"parses otherwise in pieces of {size} characters"
    return None
