"""Sessions that look keys up in a manual and call the tool that its entry shows.

Sessions of a group share the first part of their manual, hence a prefix; the rest is their own,
with keys and values that no other session may ever say. A turn's key comes from the user, then
from the tool's answer, from the private and the shared part in turn. One rule: sessions know
nothing of each other; each goes on as fast as it is served.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from lab.workloads.base import WORKLOADS
from lab.workloads.manuals import Words
from lab.workloads.sharing import ManualSessions, in_groups

if TYPE_CHECKING:
    from lab.records import SessionPlan


@WORKLOADS.register("tool_sessions")
class ToolSessions(ManualSessions):
    """Parameters of the load. Session i belongs to group i modulo ``groups``."""

    groups: int = Field(default=6, ge=1)

    def plan(self, seed: int) -> list[SessionPlan]:
        """The sessions; equal parameters and seeds give equal plans."""
        words = Words()
        return in_groups(
            seed,
            self,
            lambda rng: words.entries(rng, self.shared_entries),
            lambda index, group, shared: self._session(seed, index, group, shared, words),
        )
