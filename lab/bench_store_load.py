"""Made-up runs for the store: as many replies as are asked for, in the proportions of real runs.

One rule: a run follows from its number alone, so two measurements store the same bytes.

Shapes are those of stored runs against servers: 4 turns a session, texts of about 280 characters of
which 60 are random, a `reply` event a reply and a `session_planned` a session.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from lab.records import ArmHistory, ArmVerdict, Comparison, Finding, Reply, RunVerdict
from lab.stats import newcombe, wilson

ARMS = ("bf16, graph on", "fp8, graph on", "bf16, graph off", "bf16, graph on, one at a time")
TURNS, SESSIONS, CAMPAIGN, EVERY = 4, 250, 2500, 5  # every fifth run is a campaign
CORRUPT, FAILED = 0.02, 0.004  # rates a reply, of the first arm, and of any
GAPS = {"n": 230.0, "mean": 20.5, "p50": 20.1, "p99": 33.4, "max": 61.0}
Event = tuple[int, str, dict[str, Any]]
SCENARIO = "name: made_up\nworkload: {kind: tool_sessions}\n"


@dataclass(frozen=True)
class Made:
    """A run to be stored: its arms come one at a time."""

    number: int
    sessions: int  # an arm

    @property
    def replies(self) -> int:
        """Of all arms."""
        return self.sessions * TURNS * len(ARMS)

    def arms(self) -> Iterator[ArmHistory]:
        """The run's arms."""
        return (_arm(self, place) for place in range(len(ARMS)))


def runs(replies: int) -> Iterator[Made]:
    """Runs of about ``replies`` together: whole sessions, in every arm as many."""
    left, number = replies, 0
    while left > 0:
        most = CAMPAIGN if number % EVERY == EVERY - 1 else SESSIONS
        made = Made(number, min(most, max(1, left // (TURNS * len(ARMS)))))
        yield made
        left, number = left - made.replies, number + 1


def _arm(run: Made, place: int) -> ArmHistory:
    rng = Random(f"{run.number}/{place}")
    replies = [_reply(rng, s, t, place) for s in range(run.sessions) for t in range(TURNS)]
    planned = [_planned(session) for session in range(run.sessions)]
    return ArmHistory(
        name=ARMS[place],
        settings={"index_k": "fp8" if place == 1 else "bf16", "graph": place != 2, "seed": 0},
        sessions=run.sessions,
        replies=replies,
        counters={"padded_rows": 5000, "prefix_hits": 3 * run.sessions, "violation:lost_row": 0},
        events=[*planned, *(_event(it) for it in replies)],
        history_digest=f"sha256:{rng.getrandbits(256):064x}",
        wall_s=60.0,
        virtual_s=60.0,
    )


def _planned(session: int) -> Event:
    return 0, "session_planned", {"session": session, "group": 0}


def _event(reply: Reply) -> Event:
    fields: dict[str, Any] = {"session": reply.session, "turn": reply.turn, "status": reply.status}
    fields |= {"tokens": reply.completion_tokens, "finish_reason": reply.finish_reason}
    return round((reply.done_s or 0.0) * 1e9), "reply", fields


def _reply(rng: Random, session: int, turn: int, place: int) -> Reply:
    key, one, two = (f"{rng.getrandbits(48):012X}" for _ in range(3))
    think = f"Call route_call for {key}."
    right = (
        f'<think>{think}</think>\n\n<｜DSML｜tool_calls>\n<｜DSML｜invoke name="route_call">\n'
        f'<｜DSML｜parameter name="caller" string="true">{one}</｜DSML｜parameter>\n'
        f'<｜DSML｜parameter name="desk" string="true">{two}</｜DSML｜parameter>\n'
        "</｜DSML｜invoke>\n</｜DSML｜tool_calls>"
    )
    failed = rng.random() < FAILED
    corrupt = place == 0 and rng.random() < CORRUPT
    said = right.replace("_calls", "_cblls") if corrupt else right
    arguments = {"caller": one, "desk": two}
    call = {"id": f"call_{session}_{turn}", "function": {"name": "route_call", "arguments": one}}
    sent_s = round(session * 0.1 + turn * 9.0, 6)
    first_s = round(sent_s + rng.lognormvariate(-1.2, 0.5), 6)
    done_s = round(first_s + rng.lognormvariate(1.6, 0.3), 6)
    return Reply(
        session=session,
        turn=turn,
        due=True,
        status="transport_error" if failed else "ok",
        finish_reason=None if failed else "stop" if corrupt else "tool_calls",
        raw_text=None if failed else said,
        content=said if corrupt else None,
        reasoning=None if failed else think,
        tool_calls=() if failed or corrupt else (call,),
        prompt_tokens=5700 + 300 * turn,
        cached_tokens=5632 * (turn > 0),
        completion_tokens=230 + len(key),
        sent_s=sent_s,
        first_token_s=None if failed else first_s,
        done_s=done_s,
        request_id=f"chatcmpl-{key}",
        error="RemoteProtocolError: peer closed connection" if failed else None,
        first_sent_s=sent_s,
        last_token_s=None if failed else done_s,
        gaps_ms={} if failed else GAPS,
        cached_tiers={"device": 5632} if turn else {},
        chunks=(think[:20], think[20:]) if failed else (),
        expected_text=right,
        expected_call={"name": "route_call", "arguments": arguments},
    )


def judged(run: str, arms: list[ArmVerdict]) -> RunVerdict:
    """The verdict of a whole run, every arm held against the first."""
    first, *others = arms
    pairs = tuple(
        Comparison(first.name, it.name, "fisher", 0.5, newcombe(*_of(first), *_of(it)))
        for it in others
    )
    return RunVerdict(run, "made_up", 0, 240.0, 240.0, tuple(arms), pairs)


def _of(arm: ArmVerdict) -> tuple[int, int]:
    return arm.sessions_corrupt, arm.sessions


def findings(arm: ArmHistory) -> list[Finding]:
    """What detectors say of an arm's replies."""
    said = [
        Finding(it.session, it.turn, "leaked_markup", "fail", "markup in the visible text")
        for it in arm.replies
        if it.content is not None
    ]
    return said + [
        Finding(it.session, it.turn, "unfinished", "unknown", it.error, "unfinished")
        for it in arm.replies
        if it.error is not None
    ]


def verdict(arm: ArmHistory, found: list[Finding]) -> ArmVerdict:
    """The verdict that fits them."""
    wrong = [it for it in found if it.outcome == "fail"]
    sessions = len({it.session for it in wrong})
    return ArmVerdict(
        name=arm.name,
        settings=arm.settings,
        sessions=arm.sessions,
        sessions_corrupt=sessions,
        replies_due=len(arm.replies),
        replies_corrupt=len(wrong),
        unfinished=len(found) - len(wrong),
        rate=sessions / arm.sessions,
        ci95=wilson(sessions, arm.sessions),
        outcomes={"leaked_markup": len(wrong)} if wrong else {},
        violations={},
        exposure={"padded_rows": 5000, "prefix_hits": 3 * arm.sessions},
        verdict="corrupt" if wrong else "clean",
        expected=None,
        history_digest=arm.history_digest,
        wall_s=arm.wall_s,
        virtual_s=arm.virtual_s,
    )
