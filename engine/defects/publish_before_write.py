"""A prefix is published when its step is scheduled, before its rows are written.

Origin   vllm-project/vllm#38715 (and #42359): blocks are registered while the step is composed, and
         a request admitted in the same step finds them.
Trigger  prefix cache on, two requests of one prefix admitted in one step.
Symptom  the second one computes on whatever the pages held before: wrong text from the start, and
         it comes and goes with how arrivals fall.
Fix      engine.sched.questions.OnceWritten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.defects.registry import defect
from engine.sched.questions import OnceWritten

if TYPE_CHECKING:
    from engine.sched.batch import Chunk


@defect(
    seam="prefix_publication",
    origin="vllm-project/vllm#38715",
    kind="corrupting",
    evidence=["read_of_unwritten_row"],
)
class OnceScheduled(OnceWritten):
    """Takes what is scheduled for written."""

    def before_run(self, chunk: Chunk) -> int:
        """Publish the chunk's whole pages at once."""
        return chunk.end
