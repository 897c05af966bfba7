"""What asking costs: CPU seconds of a process with all that it started, and the rate between.

Linux's ``/proc``. One rule: a rate is that of the middle of a run, the first and the last tenth of
its tokens left out: no imports, no rising and falling, no report.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

EDGE = 0.1  # of all tokens, at either end
PROC = Path("/proc")


@dataclass(frozen=True)
class Sample:
    """One look: when, tokens that the server had sent, CPU seconds that the generator had used."""

    at_s: float
    tokens: int
    cpu_s: float


@dataclass(frozen=True)
class Rates:
    """Tokens a second, cores used, and tokens a CPU second."""

    tokens_per_s: float
    cores: float
    tokens_per_cpu_s: float


def tree_cpu_s(pid: int, proc: Path = PROC) -> float:
    """CPU seconds of a process, of its descendants, and of those of them that have ended."""
    try:
        fields = (proc / f"{pid}/stat").read_text().rpartition(")")[2].split()
        children = (proc / f"{pid}/task/{pid}/children").parent.parent.glob("*/children")
        below = [int(child) for path in children for child in path.read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return 0.0  # it ended meanwhile: its parent has the sum
    ticks = sum(int(field) for field in fields[11:15])  # user, system, and of children waited for
    return ticks / os.sysconf("SC_CLK_TCK") + sum(tree_cpu_s(child, proc) for child in below)


def rates(samples: Sequence[Sample], tokens: int) -> Rates:
    """The rates of a run that sent so many tokens, between its edges where it was long enough."""
    middle = [it for it in samples if EDGE * tokens <= it.tokens <= (1 - EDGE) * tokens]
    if len(middle) < 2 or middle[-1].tokens - middle[0].tokens < tokens / 4:
        middle = list(samples)
    first, last = middle[0], middle[-1]
    sent, cpu_s, wall_s = (
        last.tokens - first.tokens,
        last.cpu_s - first.cpu_s,
        last.at_s - first.at_s,
    )
    return Rates(
        tokens_per_s=sent / wall_s if wall_s else 0.0,
        cores=cpu_s / wall_s if wall_s else 0.0,
        tokens_per_cpu_s=sent / cpu_s if cpu_s else 0.0,
    )
