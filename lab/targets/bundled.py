"""The bundled engine, or a pair of them, in this process, under the virtual clock or by the wall's.

One rule: a wedge is an outcome, not an accident: whatever was received before it is kept, and what
was not received is recorded as unfinished.
"""

from __future__ import annotations

import asyncio
import gc
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx
import torch

from engine import clock
from engine.api import create_app
from engine.disagg.pair import Pair
from engine.errors import ConfigError, Stalled
from engine.serving import open_engine
from lab.driver import InProcess, Load, Recorder, drive
from lab.errors import TargetError, UserError
from lab.planned import announce
from lab.records import NO_DIGEST, ArmHistory
from lab.targets.base import TARGETS, Task
from lab.targets.silence import quiet_s, until_silent
from lab.toggles import to_engine_config

if TYPE_CHECKING:
    from engine.events import Event
    from lab.records import Reply


@TARGETS.register("bundled")
def bundled(task: Task) -> ArmHistory:
    """Run the arm to its end, to where it stalls, or to where ``task.watch`` ends it.

    An engine that dies leaves the event ``engine_died`` behind what it had served; raising is for
    whoever has stored that (`lab.targets.failure`).
    Raises ``UserError`` for a configuration that cannot work, ``TargetError`` where the engine did
    not start.
    """
    began_s = clock.wall_s()
    # steps are hundreds of small operations: threads that spin at every barrier win a fifth on an
    # idle machine, and lose a factor of four beside one busy neighbour
    torch.set_num_threads(1)
    run, run_on = _Run(task), clock.run_wall if task.clock == "wall" else clock.run
    stalled = None
    try:
        run_on(run.main())
    except Stalled as wedge:
        stalled = str(wedge)
    except asyncio.CancelledError:
        if run.end is None:
            raise
    history = run.history(stalled, clock.wall_s() - began_s)
    del run
    gc.collect()  # the pools, hundreds of MB, hang in reference cycles; the next arm needs the room
    return history


@dataclass(frozen=True)
class _End:
    """An arm at the event at which it was ended: what its loop does until it is gone counts not."""

    events: int
    digest: str
    counters: dict[str, int]
    replies: list[Reply]
    at_s: float


class _Run:
    """One arm while it runs: what must survive the loop that it runs in."""

    def __init__(self, task: Task) -> None:
        self.task = task
        try:
            config = to_engine_config(task.settings, build=task.build, seed=task.seed)
            self.engine = open_engine(config)
        except ConfigError as error:
            raise UserError(f"arm {task.name!r}: {error}") from None
        except (RuntimeError, MemoryError) as error:  # torch's word for no memory and no device
            why = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(":")
            raise TargetError(f"arm {task.name!r}: the engine did not start: {why}") from error
        self.recorder = Recorder(task.plans, task.progress, self.engine.events)
        self.virtual_s = 0.0
        self.end: _End | None = None
        self._main: asyncio.Task[None] | None = None
        if task.watch is not None:
            self.engine.events.listener = self._hear

    async def main(self) -> None:
        """Start the application, drive every session, stop."""
        self._main = asyncio.current_task()
        transport = InProcess(create_app(self.engine))
        try:
            async with httpx.AsyncClient(
                transport=transport, base_url="http://bundled", timeout=None
            ) as http:
                await self._read_configuration(http)
                announce(self.task.plans, self.engine.events)
                await self._drive(http)
                self._say_if_dead()
            self.virtual_s = clock.now()
            await self.engine.stop()
        finally:
            self.virtual_s = self.virtual_s or clock.now()

    async def _drive(self, http: httpx.AsyncClient) -> None:
        """Every session to its end; by the wall's clock, until nothing happens any more."""
        driving = drive(http, load_of(self.task), self.recorder)
        if clock.is_virtual():
            return await driving
        log, limit_s = self.engine.events, quiet_s(self.engine.config)
        looking = until_silent(limit_s, lambda: len(log.events), lambda: self.recorder.waits)
        task = asyncio.create_task(looking, name="silence")
        try:
            await driving
        finally:
            task.cancel()

    def _hear(self, event: Event) -> None:
        """Keep what there is at the event that ends the arm, and cancel what was to come.

        An exception would not get out: the engine takes what its loop raises for its own death.
        """
        assert self.task.watch is not None and self._main is not None
        if self.end is None and self.task.watch(event):
            self.end = self._now(clock.now(), f"the arm was ended at {clock.now():.6f} s")
            self._main.cancel()

    def _now(self, at_s: float, *why: str) -> _End:
        """The arm as it is; ``why`` explains the replies that are missing."""
        log = self.engine.events
        replies = self.recorder.replies(*why)
        digest = NO_DIGEST if self.task.clock == "wall" else log.digest()
        return _End(len(log.events), digest, dict(log.counters), replies, at_s)

    def _say_if_dead(self) -> None:
        """The cause, where something ended the engine's loop: clients only saw their own errors."""
        died = self.engine.died
        if died is not None:
            self.engine.events.emit("engine_died", error=f"{type(died).__name__}: {died}")

    async def _read_configuration(self, http: httpx.AsyncClient) -> None:
        """Keep what the server says it runs with: flags may be rewritten or ignored."""
        info = (await http.get("/server_info")).json()
        self.engine.events.remark("server_info", info=json.dumps(info, sort_keys=True))

    def history(self, stalled: str | None, wall_s: float) -> ArmHistory:
        """The arm's record: effective settings, every due reply, counters, events and digest."""
        log, pair = self.engine.events, self.engine if isinstance(self.engine, Pair) else None
        why = [f"stalled: {stalled}"] if stalled else []
        end = self.end or self._now(self.virtual_s, *why)
        return ArmHistory(
            name=self.task.name,
            settings=self.task.settings,
            sessions=len(self.task.plans),
            replies=end.replies,
            counters=end.counters,
            events=[(at, kind, dict(fields)) for at, kind, fields in log.events[: end.events]],
            history_digest=end.digest,
            wall_s=wall_s,
            virtual_s=end.at_s,
            stalled=stalled,
            timeout_s=self.task.workload.timeout_s,
            rooms=pair.room_records() if pair else [],
            digests=pair.room_digests() if pair else [],
        )


def load_of(task: Task) -> Load:
    """How the driver must drive this arm."""
    load = task.workload
    return Load(
        concurrency=int(task.settings["concurrency"]),
        stream=load.stream,
        max_tokens=load.max_tokens,
        timeout_s=load.timeout_s,
        stall_s=load.stall_s,
        abort_rate=load.abort_rate,
        abort_within_s=load.abort_within_s,
        cancels={(session, turn): after_s for session, turn, after_s in load.cancels or ()},
        retries=load.retries,
        seed=task.seed,
    )
