"""How late the driver's own loop runs: whether the load generator is what is slow.

A task sleeps a short while, again and again, and notes how late it wakes: what reads replies on the
same loop is as late. One rule: it measures, and decides nothing; under the virtual clock nothing is
ever late, and nothing is measured.
"""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from engine.clock import cpu_s, is_virtual, now, sleep

if TYPE_CHECKING:
    from lab.records import Reply, SessionPlan

PERIOD_S = 0.02
LATE_S = 0.025  # p99 from which on times of replies are this machine's rather than the server's
FULL = 0.8  # of a core: one loop has no more to give
KEPT = 0.95  # of the configured arrivals


@dataclass(frozen=True)
class Lag:
    """How late the loop woke up, in seconds, and the share of one core that this process used."""

    median_s: float = 0.0
    p99_s: float = 0.0
    worst_s: float = 0.0
    samples: int = 0
    cores: float = 0.0

    @property
    def late(self) -> bool:
        """Whether times of replies include this machine's own delay."""
        return self.p99_s > LATE_S


class Lateness:
    """Collects what one loop's monitor saw; ``read`` it at any time."""

    def __init__(self) -> None:
        self._late_s = array("d")
        self._began_s, self._cpu_s = now(), cpu_s()

    def note(self, late_s: float) -> None:
        """One waking, so many seconds later than asked for."""
        self._late_s.append(max(0.0, late_s))

    def read(self) -> Lag:
        """What has been seen so far."""
        ranked = sorted(self._late_s)
        if not ranked:
            return Lag()
        elapsed_s = now() - self._began_s
        return Lag(
            median_s=ranked[len(ranked) // 2],
            p99_s=ranked[min(len(ranked) - 1, len(ranked) * 99 // 100)],
            worst_s=ranked[-1],
            samples=len(ranked),
            cores=(cpu_s() - self._cpu_s) / elapsed_s if elapsed_s > 0 else 0.0,
        )


@asynccontextmanager
async def watching_lag(period_s: float = PERIOD_S) -> AsyncIterator[Lateness]:
    """Watch the running loop for as long as the block lasts."""
    lateness = Lateness()
    if is_virtual():
        yield lateness
        return
    task = asyncio.create_task(_watch(lateness, period_s), name="loop lag")
    try:
        yield lateness
    finally:
        task.cancel()
        await asyncio.wait([task])


async def _watch(lateness: Lateness, period_s: float) -> None:
    while True:
        due_s = now() + period_s
        await sleep(period_s)
        lateness.note(now() - due_s)


def configured_per_s(plans: Sequence[SessionPlan]) -> float | None:
    """The arrivals a second of a load whose every session is one request, as of a trace; None where
    a load names no rate of requests: sessions come at once, or go on when they have their reply.
    """
    starts = sorted(plan.start_s for plan in plans)
    if len(starts) < 2 or starts[-1] <= starts[0] or any(len(plan.turns) > 1 for plan in plans):
        return None
    return (len(starts) - 1) / (starts[-1] - starts[0])


def achieved_per_s(replies: Sequence[Reply], seats: int) -> float | None:
    """The rate at which requests were first sent; None where that says nothing of the generator:
    of fewer than two, and where all ``seats`` were taken, for then it waited for the server.
    """
    sent = [it for it in replies if it.tries]
    starts = sorted(it.began_s for it in sent)
    if len(starts) < 2 or starts[-1] <= starts[0] or _most_at_once(sent) >= seats:
        return None
    return (len(starts) - 1) / (starts[-1] - starts[0])


def _most_at_once(sent: Sequence[Reply]) -> int:
    """The most requests that were under way together."""
    came = [(it.began_s, 1) for it in sent]
    went = [(it.done_s, -1) for it in sent if it.done_s is not None]
    return max(accumulate(step for _, step in sorted([*came, *went])), default=0)


def warning(lag: Lag, achieved_per_s: float, asked_per_s: float | None = None) -> str | None:
    """What to say of an arm that this machine was late for; None where it was not.

    The generator is blamed where it used most of a core itself, or fell behind the configured
    arrivals; otherwise others keep the machine busy, and what is known is how late that made times.
    ``asked_per_s`` is the configured arrival rate, None where the load names none.
    """
    if not lag.late:
        return None
    behind = asked_per_s is not None and achieved_per_s < KEPT * asked_per_s
    if lag.cores <= FULL and not behind:
        return f"times include up to {lag.worst_s * 1e3:.0f} ms of this machine's own delay"
    asked = "" if asked_per_s is None else f" of {asked_per_s:.1f}"
    return (
        f"the load generator is the bottleneck: loop lag p99 {lag.p99_s * 1e3:.0f} ms, "
        f"{lag.cores * 100:.0f} % of a core, "
        f"achieved {achieved_per_s:.1f}{asked} requests a second"
    )
