"""A backup reads its pages as soon as the step that writes them was launched.

Origin   vllm-project/vllm#45704.
Trigger  HiCache with a write-through policy, overlap: a chunk is published, and its copy to the
         host issued, while the step that computes it has yet to run.
Symptom  the host keeps what the pages held before: a wrong prefix, once it is restored from there.
Fix      engine.cache.questions.AfterItsStep.
"""

from __future__ import annotations

from engine.cache.questions import AfterItsStep
from engine.defects.registry import defect


@defect(
    seam="backup_start",
    origin="vllm-project/vllm#45704",
    kind="corrupting",
    evidence=["page_changed_under_backup"],
)
class OnceLaunched(AfterItsStep):
    """The stream of copies does not wait for the stream of compute."""

    def may_read(self, launched: int, finished: int) -> bool:
        """At once."""
        return True
