"""Damage joined to replies. One rule: how it is joined is said, for no join is a proof.

Right replies read wrong rows, too (`lab.explaining.baseline`).

``read``      a step of this reply read the wrong row, by the token that it computed
``own``       the damage names this reply's request: its page, its token, its room
``prefix``    it names an earlier request of the session, whose rows the reply goes on from
``restored``  the reply's prefix came from the host, and a copy that brought it was wrong
``arm``       it came before, and nothing says that this reply met it
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from lab.explaining.damage import HOST, ROWS, Damage
from lab.explaining.timeline import NS, SLACK_NS, Timeline
from lab.joins import REPLY, Turn, numbered, room_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lab.explaining.divergence import Divergence
    from lab.records import ArmHistory, Reply

JOINS = ("read", "own", "prefix", "restored", "arm")  # the strongest first
JOINED = JOINS[:4]  # to the reply; ``arm`` is not


class Met(NamedTuple):
    """Damage that a reply met, by one of ``JOINS``; ``none`` where there is none."""

    damage: Damage | None
    how: str
    reads: tuple[Damage, ...] = ()  # every read of a wrong row up to the first wrong token


class Evidence:
    """The violations of an arm, and whose they are."""

    def __init__(self, history: ArmHistory) -> None:
        self.history = history
        self.timeline = Timeline(history)
        self.damages, self.faults = _told(history, "violation"), _told(history, "fault")
        self._copies = [it for it in self.damages if it.role == "copy" and not it.hurt]
        self._hurt: defaultdict[int, list[Damage]] = defaultdict(list)
        for damage in self.damages:
            for request in damage.hurt:
                self._hurt[request].append(damage)
        self._numbers = numbered(history)
        self._admitted, self._restored = _admissions(history)
        self._replies = {
            request: reply for reply in history.replies if (request := self.request_of(reply))
        }
        self.turns = {
            request: Turn(reply.session, reply.turn) for request, reply in self._replies.items()
        }
        self._requests: defaultdict[int, dict[int, int]] = defaultdict(dict)
        for request, (session, turn) in self.turns.items():
            self._requests[session][turn] = request

    def request_of(self, reply: Reply) -> int:
        """The number of the request that a reply's last try was; 0 where it is not known.

        In a pair a room has its request's number, and an error names the room.
        """
        known = REPLY.fullmatch(reply.request_id or "")
        return int(known[1]) if known else room_of(reply, self._numbers) or 0

    def met(self, reply: Reply, wrong: Divergence | None) -> Met:
        """The damage behind a reply's first wrong token, or its end without one, by the strongest
        join that there is.
        """
        token = max(0, reply.completion_tokens - 1) if wrong is None else wrong.index
        if found := self.joined(reply, token):
            return found
        before = next((it for it in self.damages if self._before(it, reply, token)), None)
        return Met(before, "arm" if before else "none")

    def joined(self, reply: Reply, token: int) -> Met | None:
        """The damage that is joined to a reply at or before a token, by one of ``JOINED``; the read
        that is the last before it, else the first damage of its kind. None where there is none.
        """
        request = self.request_of(reply)
        own = [it for it in self._hurt.get(request, ()) if self._before(it, reply, token)]
        reads = [it for it in own if it.role == "read"]
        if reads:
            return Met(_nearest(reads), "read", tuple(reads))
        if own:
            tokens = [it for it in own if it.role == "token"]
            return Met(tokens[-1] if tokens else own[0], "own")
        return self._inherited(reply, token, request)

    def failed(self, reply: Reply) -> Met:
        """The fault behind a reply that did not come whole: its room's own, else the arm's last."""
        until = round(reply.done_s * NS) if reply.done_s is not None else None
        faults = [it for it in self.faults if until is None or it.at_ns <= until]
        own = [it for it in faults if self.request_of(reply) in it.hurt]
        if own or not faults:
            return Met(own[-1], "own") if own else Met(None, "none")
        return Met(faults[-1], "arm")

    def _before(self, damage: Damage, reply: Reply, token: int) -> bool:
        """Whether damage came at or before a token of the reply.

        A read says which token it computed; all else goes by the clock.
        """
        if damage.role == "read" and "output" in damage.fields:
            return damage.number("output") <= token
        late = damage.role in ("token", "slot")
        until = (self.timeline.heard_ns if late else self.timeline.computed_ns)(
            reply, self.request_of(reply), token
        )
        return until is not None and damage.at_ns <= until

    def _inherited(self, reply: Reply, token: int, request: int) -> Met | None:
        """Damage of a prefix that the reply goes on from."""
        earlier = [
            number
            for turn, number in sorted(self._requests.get(reply.session, {}).items())
            if turn < reply.turn
        ]
        for number in reversed(earlier):
            met = [it for it in self._hurt.get(number, ()) if self._lasting(it, reply, token)]
            if met:
                return Met(next((it for it in met if "pool" in it.fields), met[0]), "prefix")
        copied = self._copied([*earlier, request])
        return Met(copied, "restored") if copied else None

    def _lasting(self, damage: Damage, reply: Reply, token: int) -> bool:
        """Damage of a row, or rows computed from a wrong one, stay in the page: a token that went
        to another does not.
        """
        return damage.role in ROWS and (damage.role == "read" or self._before(damage, reply, token))

    def _copied(self, requests: Sequence[int]) -> Damage | None:
        """A wrong copy of a prefix that one of a session's requests took from the host, the last
        one first: one that landed before its first token, else one that was made while an earlier
        request was served, else the last before it.
        """
        for request, admitted in _latest(requests, self._restored):
            landed = [it for it in self._copies if admitted <= it.at_ns <= self._until(request)[0]]
            if landed:
                return landed[0]
            made = [it for it in self._copies if it.at_ns < admitted]
            mine = [it for it in made if any(self._served(each, it) for each in requests)]
            if made:
                return mine[0] if mine else made[-1]
        return None

    def _served(self, request: int, damage: Damage) -> bool:
        """Whether damage was seen between a request's first admission and its end."""
        admitted = self._admitted.get(request)
        return admitted is not None and admitted[0] <= damage.at_ns <= self._until(request)[1]

    def _until(self, request: int) -> tuple[int, int]:
        """A request's first token and its end, in nanoseconds; 0 where it had none."""
        reply = self._replies.get(request)
        ends = (reply.first_token_s, reply.done_s) if reply else (None, None)
        first, end = (round((at or 0.0) * NS) + SLACK_NS for at in ends)
        return first, end


def _nearest(reads: Sequence[Damage]) -> Damage:
    """The last read, by the token that it computed, that tells its place: of a step the first."""
    placed = [it for it in reads if "pool" in it.fields] or reads
    return max(placed, key=lambda it: (it.number("output"), it.at_ns, -it.order))


def _latest(
    requests: Sequence[int], times: Mapping[int, Sequence[int]]
) -> Iterator[tuple[int, int]]:
    """Requests with each of their times, the last request first."""
    return ((request, at) for request in reversed(requests) for at in times.get(request, ()))


def _told(history: ArmHistory, wanted: str) -> list[Damage]:
    """The arm's violations, or its faults, in order."""
    return [
        Damage(order, at_ns, str(fields.get("name")), _placed(fields))
        for order, (at_ns, kind, fields) in enumerate(history.events)
        if kind == wanted
    ]


def _placed(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Fields of which a page of the host is called one: its number is not the device's."""
    if fields.get("tier") != HOST or "page" not in fields:
        return fields
    return {("host_page" if key == "page" else key): value for key, value in fields.items()}


def _admissions(history: ArmHistory) -> tuple[Mapping[int, list[int]], Mapping[int, list[int]]]:
    """When each request was admitted, and of these times those at which a prefix came from the
    host: its restore is told just before.
    """
    admitted: defaultdict[int, list[int]] = defaultdict(list)
    restored: defaultdict[int, list[int]] = defaultdict(list)
    pending = -1
    for at_ns, kind, fields in history.events:
        if kind == "restore":
            pending = at_ns
        elif kind == "admit":
            admitted[int(fields["request"])].append(at_ns)
            if pending == at_ns:
                restored[int(fields["request"])].append(at_ns)
            pending = -1
    return admitted, restored
