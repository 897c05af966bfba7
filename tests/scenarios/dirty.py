"""A shipped scenario on a pool so small and dirty that prefixes come back from the host in seconds.

Two conversations of about 9 pages over 12: each is evicted by the other before it goes on.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.copies import stored_geometry
from tests.scenarios.whole import run, scenario

if TYPE_CHECKING:
    from lab.records import ArmHistory, ArmVerdict

SESSIONS = 2
DIRTY = ("workload.preset=small_dirty", "engine.pool_pages=12")


@dataclass(frozen=True)
class Ran:
    """An arm that was driven, and what was concluded."""

    history: ArmHistory
    verdict: ArmVerdict

    @property
    def as_expected(self) -> bool:
        """Whether the scenario's file foresaw the verdict, and every violation that it names."""
        found = self.verdict
        named = set(found.expected_violations) <= set(found.violations)
        return found.verdict == found.expected and named

    @property
    def clean(self) -> bool:
        """Whether no reply, no ledger and no missing exposure spoils the verdict."""
        return self.verdict.verdict == "clean" and not self.verdict.violations

    def count(self, name: str) -> int:
        """One counter; a path that has none never existed."""
        return self.history.counters[name]

    def moved(self, prefix: str, *parts: str) -> dict[str, int]:
        """The counters that begin with ``prefix``, have every one of ``parts``, and are not 0."""
        return {
            name.removeprefix(prefix): n
            for name, n in self.history.counters.items()
            if n and name.startswith(prefix) and set(parts) <= {*name.split(":")}
        }

    def mismatches(self) -> list[tuple[str, str, int]]:
        """Pool, tier and item bytes of the rows that the server said do not agree."""
        rows = stored_geometry(self.history)
        return [(r["pool"], r["tier"], r["item_bytes"]) for r in rows if not r["agrees"]]

    def texts(self) -> list[str | None]:
        """What every reply said, in order of session and turn."""
        replies = sorted(self.history.replies, key=lambda r: (r.session, r.turn))
        return [reply.raw_text for reply in replies]


@functools.lru_cache(maxsize=8)
def dirty(name: str, arm: str, seed: int = 0, *sets: str) -> Ran:
    """One arm of `scenarios/NAME.yaml`; equal arguments run once."""
    return Ran(*run(scenario(name, SESSIONS, *DIRTY, *sets), arm, seed))
