"""The replies of one arm as they come in, and the ones that never came.

One rule: every turn of every plan ends as exactly one ``Reply``; ``replies`` fills in the rest as
unfinished, so a wedge or an interruption loses nothing and counts nothing as clean.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.text.tokenizer import EOS, decode
from lab.driver.pace import gaps_ms
from lab.driver.secret import Secret
from lab.driver.unparsed import read_raw
from lab.records import Reply, SessionPlan

if TYPE_CHECKING:
    from engine.events import EventLog
    from lab.driver.client import Outcome

Progress = Callable[[int, int], None]
NS = 1_000_000_000
NO_SECRET = Secret()
MOST_KEPT = 64_000  # characters of a failed reply: its beginning, which says what it was


class Recorder:
    """Collects replies and writes each into the history; ``progress(done, due)`` after each.

    What is kept is without ``secret``; ``cache_reports`` counts the replies whose usage said how
    much of the prompt was cached, be it nothing.
    """

    def __init__(
        self,
        plans: Sequence[SessionPlan],
        progress: Progress = lambda done, due: None,
        events: EventLog | None = None,
        secret: Secret = NO_SECRET,
    ) -> None:
        self.plans, self.events, self._progress = plans, events, progress
        self._secret, self.cache_reports = secret, 0
        self.start_s = 0.0  # the loop's time at which the arm began
        self._due = sum(len(plan.turns) for plan in plans)
        self._sent_s: dict[tuple[int, int], float] = {}  # the first time
        self._resent_s: dict[tuple[int, int], float] = {}  # the last time
        self._tries: Counter[tuple[int, int]] = Counter()
        self._replies: dict[tuple[int, int], Reply] = {}

    def sending(self, plan: SessionPlan, turn: int, now_s: float) -> None:
        """Note that a turn's request goes out, in case nothing ever comes back."""
        self._resent_s[plan.index, turn] = now_s - self.start_s
        self._sent_s.setdefault((plan.index, turn), now_s - self.start_s)
        self._tries[plan.index, turn] += 1

    def retrying(self, plan: SessionPlan, turn: int, outcome: Outcome) -> None:
        """A try failed, and the client will ask again: what it failed of stays in the history.

        ``sent_ns`` and ``done_ns`` are on the arm's clock, as are a reply's times.
        """
        if self.events is not None:
            done_s = outcome.sent_s if outcome.done_s is None else outcome.done_s
            self.events.count("client_retries")
            self.events.emit(
                "client_retry",
                session=plan.index,
                turn=turn,
                tries=self._tries[plan.index, turn],
                status=outcome.status,
                error=self._secret.scrub_cut(str(outcome.error)),
                sent_ns=round((outcome.sent_s - self.start_s) * NS),
                done_ns=round((done_s - self.start_s) * NS),
            )

    def received(self, plan: SessionPlan, turn: int, outcome: Outcome) -> None:
        """File what became of a turn."""
        place = plan.index, turn
        reply = self._secret.scrubbed(_reply(plan, turn, outcome, self.start_s, self._secret))
        self.cache_reports += outcome.received.reports_cache
        first_s = self._sent_s.get(place)
        self._file(replace(reply, tries=self._tries[place], first_sent_s=first_s))
        self._progress(len(self._replies), self._due)

    def withdraw(self, plan: SessionPlan, turn: int) -> None:
        """The client has left for good: its turns from ``turn`` on are not due any more."""
        if self.events is not None:
            self.events.count("clients_left")
        for later in range(turn, len(plan.turns)):
            self._file(replace(_unfinished(plan, later), due=False))
        self._progress(len(self._replies), self._due)

    @property
    def waits(self) -> bool:
        """Whether a turn was sent that nothing has come back of yet."""
        return any(place not in self._replies for place in self._sent_s)

    def replies(self, why: str = "the session ended before this turn") -> list[Reply]:
        """One reply for each turn, by session and turn; ``why`` explains the missing ones."""
        return [
            self._replies.get((plan.index, turn)) or self._missing(plan, turn, why)
            for plan in self.plans
            for turn in range(len(plan.turns))
        ]

    def _missing(self, plan: SessionPlan, turn: int, why: str) -> Reply:
        empty = replace(_unfinished(plan, turn), error=why)
        place = plan.index, turn
        if place not in self._sent_s:
            return empty
        return replace(
            empty,
            status="timeout",
            sent_s=self._resent_s[place],
            tries=self._tries[place],
            first_sent_s=self._sent_s[place],
        )

    def _file(self, reply: Reply) -> None:
        self._replies[reply.session, reply.turn] = reply
        if self.events is not None:
            text = (reply.raw_text or reply.content or "").encode()
            self.events.emit(
                "reply",
                session=reply.session,
                turn=reply.turn,
                status=reply.status,
                finish_reason=str(reply.finish_reason),
                tokens=reply.completion_tokens,
                text_sha=hashlib.sha256(text).hexdigest(),
            )


def raw_text(ids: Sequence[int] | None) -> str | None:
    """The reply's whole text, specials spelled out, without a final end-of-sequence token."""
    if ids is None:
        return None
    try:
        return decode(ids[:-1] if ids and ids[-1] == EOS else ids)
    except KeyError:  # ids of a vocabulary that is not ours
        return None


def kept(outcome: Outcome, secret: Secret = NO_SECRET) -> tuple[str, ...]:
    """What came of a reply that failed, as it was cut, up to ``MOST_KEPT`` characters of what is
    left without ``secret``.
    """
    if outcome.status not in ("transport_error", "timeout"):
        return ()
    room, chunks = MOST_KEPT, []
    for chunk in secret.scrub_chunks(outcome.chunks):
        chunks.append(chunk[:room])
        room -= len(chunk)
        if room <= 0:
            break
    return tuple(chunks)


def _unfinished(plan: SessionPlan, turn: int) -> Reply:
    return Reply(
        session=plan.index,
        turn=turn,
        due=True,
        status="not_sent",
        finish_reason=None,
        raw_text=None,
        content=None,
        reasoning=None,
        tool_calls=(),
        prompt_tokens=0,
        cached_tokens=0,
        completion_tokens=0,
        sent_s=0.0,
        first_token_s=None,
        done_s=None,
        tries=0,
        expected_text=plan.turns[turn].expected_text,
        expected_call=plan.turns[turn].expected_call,
    )


def _reply(plan: SessionPlan, turn: int, outcome: Outcome, start_s: float, secret: Secret) -> Reply:
    """An outcome on the arm's clock; a client that left on purpose is owed nothing."""
    got, raw = outcome.received, raw_text(outcome.received.token_ids)
    if plan.raw:
        got, raw = read_raw(got, plan.tools)
    first_s, done_s = got.first_token_s, outcome.done_s
    last_s = got.token_times[-1] if got.token_times else None
    usage = got.usage
    details = usage.get("prompt_tokens_details") or {}
    return replace(
        _unfinished(plan, turn),
        due=outcome.status != "aborted",
        status=outcome.status,
        finish_reason=got.finish_reason,
        raw_text=raw,
        content=got.content,
        reasoning=got.reasoning,
        tool_calls=tuple(got.tool_calls),
        prompt_tokens=int(usage.get("prompt_tokens") or 0),
        cached_tokens=int(details.get("cached_tokens") or 0),
        completion_tokens=int(usage.get("completion_tokens") or 0),
        sent_s=outcome.sent_s - start_s,
        first_token_s=None if first_s is None else first_s - start_s,
        done_s=None if done_s is None else done_s - start_s,
        request_id=got.request_id,
        error=outcome.error,
        last_token_s=None if last_s is None else last_s - start_s,
        gaps_ms=gaps_ms(got.token_times),
        cached_tiers=got.cached_tiers,
        chunks=kept(outcome, secret),
    )
