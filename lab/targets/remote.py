"""Somebody else's server, by the wall's clock: a URL, or what a profile launched for the arm.

One rule: nothing is known of its inside but what it says itself, before and after; what was
received is kept whatever becomes of it.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import httpx

from engine import clock
from engine.errors import Stalled
from engine.events import EventLog
from lab.driver import Recorder, drive
from lab.driver.client import OURS
from lab.driver.lag import Lag, achieved_per_s, configured_per_s, warning, watching_lag
from lab.driver.throttle import Capped
from lab.driver.url import client
from lab.errors import TargetError, UserError
from lab.exposure import COUNTED, FLUSHED, FOREIGN, GENERATOR, UNHEARD
from lab.planned import announce
from lab.records import NO_DIGEST, ArmHistory
from lab.targets.bundled import load_of
from lab.targets.counted import KVLAB, Counting, moved
from lab.targets.documents import (
    INFO,
    MODELS,
    Unreachable,
    documents,
    maker,
    served_models,
)
from lab.targets.effective import Setting, model_served, settings_read
from lab.targets.fault_log import FaultLog
from lab.targets.flushing import flushed
from lab.targets.keys import secret
from lab.targets.living import UNANSWERED, answers, died_of
from lab.targets.probed import another_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.events import Event
    from lab.driver import Load
    from lab.launching.servers import Server
    from lab.profiles import Profile
    from lab.records import SessionPlan
    from lab.targets.base import Task

EXTRA: Mapping[str, Mapping[str, Any]] = {
    KVLAB: OURS,
    "sglang": {"return_cached_tokens_details": True},
}
LOOK_S, GRACE_S = 0.5, 1.0  # between two looks at its processes; for errors that come of a death


def run_remote(task: Task, server: Server, profile: Profile | None = None) -> ArmHistory:
    """Drive the arm's sessions against ``server`` to their end, or to where ``task.watch`` ends it.

    A server that dies meanwhile leaves the event ``engine_died`` behind what it had served.
    Raises ``UserError`` for a key that is not there, ``TargetError`` where the server does not
    answer at all.
    """
    began_s = clock.wall_s()
    run, stalled = _Run(task, server, profile), None
    try:
        clock.run_wall(run.main())
    except Stalled as wedge:
        stalled = str(wedge)
    except asyncio.CancelledError:
        if run.end is None:
            raise
    return run.history(stalled, clock.wall_s() - began_s)


class _Run:
    """One arm while it runs: what must survive the loop that it runs in."""

    def __init__(self, task: Task, server: Server, profile: Profile | None) -> None:
        self.task, self.server, self.profile = task, server, profile
        self.key = secret(server.api_key_env)
        self.log = EventLog(clock.now_ns)
        self.recorder = Recorder(task.plans, task.progress, self.log, self.key)
        self.died: str | None = None
        self.wall_s = 0.0
        self.end: tuple[int, str] | None = None  # events by then, and why there were no more
        self._main: asyncio.Task[None] | None = None
        if task.watch is not None:
            self.log.listener = self._hear

    async def main(self) -> None:
        """Read what the server says of itself, drive every session, read it again."""
        self._main = asyncio.current_task()
        base_url = self.server.base_url.rstrip("/").removesuffix("/v1")
        try:
            http = client(base_url, self.key.headers)
        except httpx.InvalidURL as error:
            raise UserError(f"target: {base_url!r} is no URL: {error}") from None
        try:
            async with http:
                await self._run(http)
        finally:
            self.wall_s = self.wall_s or clock.now()

    async def _run(self, http: httpx.AsyncClient) -> None:
        try:
            found = await documents(http, self._paths())
        except Unreachable as why:
            told = self.server.died() or f"{self._url()} does not answer: {why}"
            raise TargetError(self.key.scrub_cut(f"arm {self.task.name!r}: {told}")) from None
        load = await self._configured(http, found)
        beyond = self.task.workload.beyond_bundled() if self.profile is None else ""
        if beyond and maker(found) == KVLAB:
            raise UserError(f"arm {self.task.name!r}: {self._url()}: {beyond}")
        known = self.task.workload.texts_known
        if known and (other := await another_model(http, load)):
            raise UserError(f"arm {self.task.name!r}: {self._url()}: {other}")
        if maker(found) != KVLAB and not known:
            self.recorder.plans = [_of_a_stranger(plan) for plan in self.task.plans]
        announce(self.task.plans, self.log)
        counting = Counting(http, self.server, self.profile, maker(found))
        if (flush := await flushed(http, self.server, self.profile)) is not None:
            self.log.remark(FLUSHED, **flush)
        before = await counting.read()
        faults = FaultLog(self.server, self.profile, self.task.build)
        async with watching_lag() as lateness:
            await self._drive(http, load)
        self.wall_s = clock.now()
        self._say_how_late(lateness.read())
        faults.tell(self.log)
        answered = self.died is None and await answers(http)
        if self.died is None and not answered:
            self.died = await died_of(self.server, self.recorder.replies())
        if self.died is not None:
            self.log.emit("engine_died", error=self.key.scrub_cut(self.died))
            return
        if not answered:
            self.log.remark(UNHEARD, warning=UNANSWERED)
        rose = moved(before, await counting.read() if answered else [])
        if rose.warning:
            self.log.remark(COUNTED, warning=rose.warning)
        self._count(rose.counters)

    def _paths(self) -> list[str]:
        """The documents of the node that answers that the profile reads settings from."""
        if self.profile is None:
            return []
        here = ("", self.profile.endpoint)
        return [how.json_path for how in self.profile.readback.values() if how.node in here]

    async def _configured(self, http: httpx.AsyncClient, found: dict[str, Any]) -> Load:
        """Keep what the server says that it runs with, and ask it as it wants to be asked."""
        names, given = served_models(found), self.server.model
        if not (given or names):
            what = "no /v1/models to take the model's name from; `model` of the target names it"
            raise UserError(f"arm {self.task.name!r}: {self._url()}: {what}")
        load = load_of(self.task)
        extra = EXTRA.get(maker(found), {})
        load = replace(load, model=given or names[0], extra=extra, adapts=True)
        self.log.emit(FOREIGN, url=self._url(), boot=self.server.boot, model=load.model)
        objects = {path: it for path, it in found.items() if isinstance(it, dict)}
        for path in sorted(objects, key=lambda path: (path not in INFO, path == MODELS)):
            info = json.dumps(self.key.scrub(objects[path]), sort_keys=True)
            self.log.remark("server_info", path=path, info=info)
        await self._compare(http, found)
        return load

    def _url(self) -> str:
        """Where the server is, without a password."""
        return str(httpx.URL(self.server.base_url).copy_with(userinfo=b""))

    async def _compare(self, http: httpx.AsyncClient, found: dict[str, Any]) -> None:
        """Say of each setting that was asked for whether the server runs with it."""
        named = model_served(self.server.model, found)
        read: list[Setting] = [named] if named is not None else []
        if self.profile is not None:
            asked = self.task.settings
            read += await settings_read(http, self.server, self.profile, found, asked)
        for setting in read:
            fields = self.key.scrub(setting.fields())
            if setting.effective is None:
                self.log.remark("setting_not_read", **fields)
            elif setting.differs:
                self.log.emit("setting_not_effective", **fields)
            else:
                self.log.remark("setting_effective", **fields)

    def _count(self, rose: Mapping[str, int]) -> None:
        """What the server counted, and what the replies' usage says of their prompts."""
        for name, n in sorted(rose.items()):
            self.log.count(name, n)
        if self.recorder.cache_reports:
            told = [reply for reply in self.recorder.replies() if reply.cached_tokens]
            if "prefix_hits" not in rose:
                self.log.count("prefix_hits", len(told))
            self.log.count("cached_tokens", sum(reply.cached_tokens for reply in told))
        for reply in self.recorder.replies():
            for tier, tokens in sorted(reply.cached_tiers.items()):
                self.log.count(f"cached_tokens_{tier}", tokens)

    def _say_how_late(self, lag: Lag) -> None:
        """Whether the times are the server's: a machine that is late reads replies late."""
        replies = [reply for reply in self.recorder.replies() if reply.tries]
        sent, took_s = sum(reply.tries for reply in replies), self.wall_s - self.recorder.start_s
        rate = achieved_per_s(replies, int(self.task.settings["concurrency"]))
        asked = None if rate is None else self._asked_per_s()
        if rate is None or asked is None:
            rate = sent / took_s if took_s > 0 else 0.0
        self.log.remark(
            GENERATOR,
            lag_p99_us=round(lag.p99_s * 1e6),
            core_percent=round(lag.cores * 100),
            requests=sent,
            warning=warning(lag, rate, asked) or "",
        )

    def _asked_per_s(self) -> float | None:
        """The arrivals of the load, as far as the target's cap lets them through."""
        asked, cap = configured_per_s(self.task.plans), self.server.max_requests_per_s
        return min(asked, cap) if asked is not None and cap else asked

    async def _drive(self, http: httpx.AsyncClient, load: Load) -> None:
        """Every session to its end, or until the server was seen to be dead."""
        cap = self.server.max_requests_per_s
        throttle = Capped(cap) if cap else None
        sessions = drive(http, load, self.recorder, throttle)
        driving = asyncio.create_task(sessions, name="sessions")
        try:
            while not driving.done() and self.died is None:
                await asyncio.wait([driving], timeout=LOOK_S)
                self.died = self.server.died()
            await asyncio.wait([driving], timeout=GRACE_S)
        finally:
            driving.cancel()
            await asyncio.wait([driving])
        if not driving.cancelled():
            driving.result()

    def _hear(self, event: Event) -> None:
        """End the arm at the event of which ``task.watch`` says so."""
        assert self.task.watch is not None and self._main is not None
        if self.end is None and self.task.watch(event):
            self.end = len(self.log.events), f"the arm was ended at {clock.now():.6f} s"
            self._main.cancel()

    def history(self, stalled: str | None, wall_s: float) -> ArmHistory:
        """The arm's record: every due reply, what the server counted, and what happened."""
        events, why = self.end or (len(self.log.events), "")
        why = (
            why or (f"stalled: {stalled}" if stalled else "") or self.key.scrub_cut(self.died or "")
        )
        return ArmHistory(
            name=self.task.name,
            settings=self.task.settings,
            sessions=len(self.task.plans),
            replies=self.recorder.replies(*([why] if why else [])),
            counters=dict(self.log.counters),
            events=[(at, kind, dict(fields)) for at, kind, fields in self.log.events[:events]],
            history_digest=NO_DIGEST,
            wall_s=wall_s,
            virtual_s=self.wall_s,
            stalled=stalled,
            timeout_s=self.task.workload.timeout_s,
        )


def _of_a_stranger(plan: SessionPlan) -> SessionPlan:
    """The plan for a model that is not the constructed one: what it will say is not known; which
    call is due is, where the prompt determines it.
    """
    return replace(plan, turns=tuple(replace(turn, expected_text="") for turn in plan.turns))
