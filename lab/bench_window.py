"""A window of decode steps under torch's profiler, inside an arm that ends with it.

Rule: the window opens once the batch is full and has settled, on a device that has nothing left to
do, and what is told is per step. Kernels are told by name on a GPU, torch's operations on a CPU. No
moment is told twice: of kernels that overlap, the later one has what follows the earlier one's end.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch.profiler import ProfilerActivity, profile

from engine.devices import wait_for

if TYPE_CHECKING:
    from engine.events import Event

Spent = dict[str, tuple[float, int]]  # milliseconds and calls
SETTLED, STEPS = 8, 32  # full decode steps before the window opens, and inside it


@dataclass(frozen=True)
class Share:
    """A kernel, or on a CPU an operation without those inside it: milliseconds and calls of one
    decode step, and its part of all of them.
    """

    name: str
    ms: float
    calls: float
    share: float


class Window:
    """Hears an arm's events (`lab.targets.Watch`), and ends it after `steps` steps of `rows` rows
    or more. A prefill step inside would count as well: `prefills` says how many there were.
    """

    def __init__(self, device: str, rows: int, steps: int = STEPS, settled: int = SETTLED) -> None:
        self._device, self._rows, self._due, self._settled = device, rows, steps, settled
        kind = ProfilerActivity.CPU if device == "cpu" else ProfilerActivity.CUDA
        with profile(activities=[kind]):
            wait_for(device)  # the tracer is there before the first graph is captured
        self._profile = profile(activities=[kind])
        self._full = self.steps = self.prefills = 0
        self._shares: list[Share] | None = None

    def __call__(self, event: Event) -> bool:
        """Whether the arm ends at this event."""
        if event.kind == "prefill":
            self.prefills += self.open
        if event.kind != "decode" or int(event.fields["rows"]) < self._rows:
            return False
        self._full += 1
        if self._full == self._settled:
            wait_for(self._device)
            self._profile.start()
        elif self.open:
            self.steps += 1
            if self.steps == self._due:
                self._close()
                return True
        return False

    @property
    def open(self) -> bool:
        """Whether steps are being watched."""
        return self._full >= self._settled and self._shares is None

    def shares(self) -> list[Share]:
        """What took the time, the most first; nothing where the window never opened."""
        if self.open:
            self._close()
        return self._shares or []

    def _close(self) -> None:
        wait_for(self._device)
        self._profile.stop()
        spent = _by_name(self._profile, self._device)
        total = sum(ms for ms, _ in spent.values()) or 1.0
        steps = max(1, self.steps)
        found = [
            Share(name, ms / steps, calls / steps, ms / total)
            for name, (ms, calls) in spent.items()
        ]
        self._shares = sorted(found, key=lambda it: -it.share)


def short(kernel: str) -> str:
    """A kernel's name without its return type, its namespaces, its templates and arguments."""
    plain = re.split(r"[<(]", kernel.removeprefix("void "))[0].strip()
    return plain.rpartition("::")[2] or kernel


def apart(ran: Iterable[tuple[float, float, str]]) -> Spent:
    """By name, milliseconds and calls of what ran from one microsecond to another: each from its
    start, or from the end of all that started before it, so that they sum up to when anything ran.
    """
    spent: Spent = {}
    last = -math.inf
    for start, end, name in sorted(ran):
        ms, calls = spent.get(name, (0.0, 0))
        spent[name] = ms + max(0.0, end - max(start, last)) / 1e3, calls + 1
        last = max(last, end)
    return spent


def _by_name(watched: profile, device: str) -> Spent:
    """Milliseconds and calls of all that ran on the device."""
    if device == "cpu":
        found: Any = watched.key_averages()
        on_cpu = [each for each in found if each.device_type.name == "CPU"]
        return {each.key: (each.self_cpu_time_total / 1e3, each.count) for each in on_cpu}
    events: Any = watched.events()
    ran = [each for each in events if each.device_type.name == "CUDA"]
    return apart((it.time_range.start, it.time_range.end, short(it.name)) for it in ran)
