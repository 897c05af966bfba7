"""When a token of a reply was computed and heard. One rule: a running request is a row of every
decode step, so its tokens are counted by steps.

They are counted from its first token on, until it was retracted; what it heard after its last
retraction is counted back from its end, and what it heard between two was there by the second.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.records import ArmHistory, Reply

NS = 1_000_000_000
SLACK_NS = 1_000  # seconds of a record are rounded


class Timeline:
    """The launches of an arm's decode steps, in nanoseconds of its clock, and retractions."""

    def __init__(self, history: ArmHistory) -> None:
        self._launches: list[int] = []
        self._retracted: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for at_ns, kind, fields in history.events:
            if fields.get("rank"):
                continue
            if kind == "decode":
                self._launches.append(at_ns)
            elif kind == "retract":
                self._retracted[int(fields["request"])].append((at_ns, int(fields["output"])))

    def computed_ns(self, reply: Reply, request: int, token: int) -> int | None:
        """The latest launch of a step that may have computed the token; None if it never came."""
        return self._at(reply, request, token, 1)

    def heard_ns(self, reply: Reply, request: int, token: int) -> int | None:
        """When the scheduler gave it to its request, at the latest; None if that never was."""
        return self._at(reply, request, token, 0)

    def _at(self, reply: Reply, request: int, token: int, before: int) -> int | None:
        """The launch at which a token is heard, or one ``before``."""
        if reply.done_s is None and reply.first_token_s is None:
            return None
        end = round((reply.done_s if reply.done_s is not None else reply.first_token_s or 0.0) * NS)
        if reply.first_token_s is None:
            return end + SLACK_NS
        first = round(reply.first_token_s * NS)
        retracted = self._retracted.get(request, ())
        if retracted and token >= retracted[0][1]:
            later = [at_ns for at_ns, output in retracted if output > token]
            return (later[0] if later else self._back(reply, end, token, before)) + SLACK_NS
        return min(end, self._forth(first, max(0, token - before)) or end) + SLACK_NS

    def _forth(self, first: int, steps: int) -> int | None:
        if not steps:
            return first
        at = bisect_left(self._launches, first - SLACK_NS) + steps
        return self._launches[at] if at < len(self._launches) else None

    def _back(self, reply: Reply, end: int, token: int, before: int) -> int:
        """Counted from the reply's last token, which is heard at its end."""
        steps = max(0, reply.completion_tokens - 1 - token) + before
        at = bisect_left(self._launches, end - SLACK_NS) - steps
        return self._launches[at] if steps and at >= 0 else end
