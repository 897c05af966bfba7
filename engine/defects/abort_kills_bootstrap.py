"""The prefill's bootstrap thread asserts its message's guard, and an abort has none.

Origin   seed investigation: SGLang's NIXL ``conn.py``, ``assert msg[0] == GUARD`` outside any try.
Trigger  PD, and any room that the decode side gives up: a client that leaves, a timeout. Handled
         aborts clear it, and so does a load without any.
Symptom  the thread is gone and nothing says so: every later room stays Bootstrapping until its
         timeout. No wrong byte.
Fix      engine.disagg.questions.AnyTag.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.defects.registry import defect
from engine.disagg.mail import Tag
from engine.disagg.questions import AnyTag

if TYPE_CHECKING:
    from engine.disagg.mail import Message


@defect(
    seam="bootstrap_message",
    origin="seed investigation",
    kind="liveness",
    evidence=["bootstrap_loop_died", "no_progress"],
)
class AssertsTheGuard(AnyTag):
    """Takes every message to be about a room's pages."""

    def read(self, message: Message) -> Message:
        """The message; raises ``AssertionError`` for every other tag."""
        assert message.tag is Tag.GUARD, f"{message.tag.value} is not {Tag.GUARD.value}"
        return message
