"""When a token of a reply was computed and heard. One rule: a running request is a row of every
decode step, so its tokens are counted by the steps that were launched since its first one.

A request that was retracted meanwhile heard its later tokens later than is said here: nothing is
taken for earlier than it was.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.records import ArmHistory, Reply

NS = 1_000_000_000
SLACK_NS = 1_000  # seconds of a record are rounded


class Timeline:
    """The launches of an arm's decode steps, in nanoseconds of its clock."""

    def __init__(self, history: ArmHistory) -> None:
        self._launches = [
            at_ns
            for at_ns, kind, fields in history.events
            if kind == "decode" and not fields.get("rank")
        ]

    def computed_ns(self, reply: Reply, token: int) -> int | None:
        """The latest launch of a step that may have computed the token; None if it never came."""
        return self._at(reply, max(0, token - 1)) if token else self._at(reply, 0)

    def heard_ns(self, reply: Reply, token: int) -> int | None:
        """When the scheduler gave it to its request, at the latest; None if that never was."""
        return self._at(reply, token)

    def _at(self, reply: Reply, steps: int) -> int | None:
        if reply.first_token_s is None:
            return None if reply.done_s is None else round(reply.done_s * NS) + SLACK_NS
        first = round(reply.first_token_s * NS)
        end = first if reply.done_s is None else round(reply.done_s * NS)
        start = bisect_left(self._launches, first - SLACK_NS)
        following = self._launches[start + steps : start + steps + 1] if steps else [first]
        return min([*following, end]) + SLACK_NS
