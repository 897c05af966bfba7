"""The prefill side's transfer queues, and the workers that empty them.

One rule: a queue carries one job at a time, to its end. A room keeps to its queue, so its chunks
stay in order, and whatever is slow holds up every room behind it (head-of-line blocking inside a
shard), and no other.

Every queue has a thread of its own, however few ``workers`` there are, as in SGLang's NIXL backend;
workers beyond the number of queues are shared out among them. So a larger ``queue_size`` adds
threads, and what they carry.

All pieces of a job are posted at once, as NIXL's ``transfer_worker`` does, and awaited in order:
whoever gives a room up while its KV is on the wire has its state and its first token there too.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from engine import clock
from engine.disagg.wire import PostState
from engine.runner import step_cost
from engine.spans import span

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.config import EngineConfig
    from engine.disagg.pieces import Piece
    from engine.disagg.wire import Posted, Wire
    from engine.events import EventLog
    from engine.runner.step_cost import Hardware

SLOWEST = 1.05  # a job takes up to this many times its nominal seconds


@dataclass(eq=False)
class Job:
    """One chunk of a room. ``why`` is filled in where the wire refuses."""

    room: int
    chunk: int
    pieces: tuple[Piece, ...]
    last: bool
    why: str = ""


def queue_rate(config: EngineConfig, hw: Hardware) -> float:
    """Bytes per second of one queue: its threads' streams, or its even share of the link.

    A queue has one thread, or as many as ``config.workers`` gives to each.
    """
    threads = max(1, config.workers // config.queue_size)
    stream = config.wire_gb_per_s * 1e9 or hw.wire_bytes_per_s
    return min(threads * stream, hw.link_bytes_per_s / config.queue_size)


class Workers:
    """``config.queue_size`` queues of one rank, and a task for each.

    ``on_piece`` hears of every piece that has arrived, ``on_end`` of every job's end: DONE, ERR, or
    CANCELLED where the room was ``dead`` before the job's turn or was revoked under it. When it is
    called the job no longer counts as outstanding. ``on_turn`` hears of a job that is about to be
    posted, ``on_death`` what ended a task, if one of these raises.
    """

    def __init__(
        self,
        wire: Wire,
        config: EngineConfig,
        rank: int,
        on_piece: Callable[[Job, Piece], None],
        on_end: Callable[[Job, PostState], None],
        dead: Callable[[int], bool],
        events: EventLog,
    ) -> None:
        hw = step_cost.preset(config.hardware)
        self.bytes_per_s, self.latency_s = queue_rate(config, hw), hw.wire_latency_s
        self.on_turn: Callable[[Job], None] = lambda job: None
        self.on_death: Callable[[Exception], None] | None = None
        self._wire, self._rank, self._events = wire, rank, events
        self._on_piece, self._on_end, self._dead = on_piece, on_end, dead
        self._random = Random(f"{config.seed}:wire:{rank}")
        self._queues = [asyncio.Queue[Job]() for _ in range(config.queue_size)]
        self._tasks: list[asyncio.Task[None]] = []
        self._jobs: dict[int, int] = {}  # room -> jobs that have not ended
        self._carried: dict[int, Job] = {}  # queue -> the job whose turn it is
        self._posts: dict[int, list[Posted]] = {}  # queue -> the posts of its last job

    def add(self, job: Job) -> None:
        """Queue a job behind those of its shard."""
        self._jobs[job.room] = self.outstanding(job.room) + 1
        self._queues[job.room % len(self._queues)].put_nowait(job)

    def outstanding(self, room: int) -> int:
        """Jobs of the room that have not ended, queued or posted."""
        return self._jobs.get(room, 0)

    def posted(self, room: int) -> int:
        """Jobs of the room whose turn has come: with none, a dead room writes nothing any more."""
        return sum(job.room == room for job in self._carried.values())

    @property
    def busy(self) -> bool:
        """Whether any job has not ended: something of it is on the wire, or is next."""
        return bool(self._jobs)

    def start(self) -> None:
        """Start the tasks, on the running loop."""
        self._tasks = [
            asyncio.create_task(self._serve(queue), name=f"rank {self._rank} transfers {queue}")
            for queue in range(len(self._queues))
        ]

    def stop(self) -> None:
        """Carry nothing any more: what is on the wire is taken back, what waits is dropped."""
        for task in self._tasks:
            task.cancel()
        for posts in self._posts.values():
            self._take_back(posts)
        self._tasks.clear()
        self._carried.clear()
        self._jobs.clear()

    async def _serve(self, queue: int) -> None:
        try:
            while True:
                self._carried[queue] = job = await self._queues[queue].get()
                began_s = clock.now()
                state = await self._carry(queue, job)
                self._span(queue, job, began_s, state)
                self._end(queue, job, state)
        except Exception as error:  # whatever it is, somebody must hear: no room gets on any more
            if self.on_death is None:
                raise
            self.on_death(error)

    async def _carry(self, queue: int, job: Job) -> PostState:
        """Post a job's pieces and hear of each; one that fails takes back those behind it."""
        if self._dead(job.room):
            self._events.count("skipped_transfers")
            return PostState.CANCELLED
        self.on_turn(job)
        self._posts[queue] = posts = self._post(job)
        for piece, post in zip(job.pieces, posts, strict=True):
            state = await self._ended(post)
            if state is not PostState.DONE:
                job.why = post.why
                self._take_back(posts)
                return state
            self._events.count("transfer_bytes", round(piece.flash_bytes))
            self._on_piece(job, piece)
        self._events.count("transfers")
        return PostState.DONE

    def _post(self, job: Job) -> list[Posted]:
        """All pieces at once: each costs a latency, and its bytes go behind those before it."""
        slow, seconds = self._random.uniform(1.0, SLOWEST), 0.0
        posts: list[Posted] = []
        for piece in job.pieces:
            seconds += self.latency_s + piece.flash_bytes / self.bytes_per_s * slow
            note = self._note(job, piece)
            posts.append(self._wire.post(job.room, piece.writes, note, seconds))
        return posts

    def _take_back(self, posts: list[Posted]) -> None:
        for post in posts:
            self._wire.cancel(post)

    async def _ended(self, post: Posted) -> PostState:
        """How a post ended, once it has. A wire that is late is asked again, a latency apart."""
        while (state := self._wire.poll(post)) is PostState.PROC:
            late = post.due_s <= clock.now()
            until = clock.now() + self.latency_s if late else post.due_s
            with suppress(TimeoutError):
                async with asyncio.timeout_at(until):
                    await post.ended.wait()
        return state

    def _end(self, queue: int, job: Job, state: PostState) -> None:
        del self._carried[queue]
        self._jobs[job.room] -= 1
        if not self._jobs[job.room]:
            del self._jobs[job.room]
        self._on_end(job, state)

    def _span(self, queue: int, job: Job, began_s: float, state: PostState) -> None:
        """Tell of a job's turn; ``bytes`` are those of all its pieces, whatever arrived of them."""
        span(
            self._events,
            f"wire {self._rank}:{queue}",
            "transfer",
            began_s,
            clock.now(),
            room=job.room,
            chunk=job.chunk,
            bytes=round(sum(piece.flash_bytes for piece in job.pieces)),
            state=state.name,
        )

    def _note(self, job: Job, piece: Piece) -> str:
        """What the decode side reads when the piece is there, as SGLang writes it."""
        chunk = f"_{job.chunk}_{int(job.last)}" if piece.kind == "kv" else ""
        return f"{job.room}_{piece.kind}{chunk}_{self._rank}"
