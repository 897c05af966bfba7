"""Who read what wrong in a whole run: replies, and what the shadow memory told of their reads."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from engine.text.tokenizer import encode

if TYPE_CHECKING:
    from lab.records import Reply
    from tests.scenarios.whole import Ran


def wrong(of: Ran) -> list[Reply]:
    """The replies that came and do not say what they should."""
    came = [reply for reply in of.history.replies if reply.status == "ok"]
    return [reply for reply in came if reply.raw_text != reply.expected_text]


def room_of(reply: Reply) -> int:
    """Rooms have their requests' numbers: 7 of ``chatcmpl-7``."""
    assert reply.request_id is not None
    return int(reply.request_id.rpartition("-")[2])


def first_wrong(reply: Reply) -> int:
    """Which token of a reply is the first wrong one, from 0 on."""
    came, due = encode(reply.raw_text or ""), encode(reply.expected_text)
    return next(i for i, pair in enumerate(zip_longest(came, due)) if pair[0] != pair[1])


def violations(of: Ran, name: str) -> list[dict[str, Any]]:
    """What was told under a name, or under all that begin with it, in order."""
    told = [fields for _, kind, fields in of.history.events if kind == "violation"]
    return [fields for fields in told if fields["name"].startswith(name)]


def reads(of: Ran, request: int) -> list[dict[str, Any]]:
    """What a request of the decode side was told to have read, in order."""
    return [said for said in violations(of, "read_") if said.get("request") == request]
