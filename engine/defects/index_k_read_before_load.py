"""The index-K getter does not wait for the layer's restore.

Origin   seed investigation: suspected, and cleared by reading the getter; offered here as a fault.
Trigger  hicache on, a prefix that comes back from the host more slowly than the step reaches its
         indexer (a busy link, a short prompt behind a long prefix).
Symptom  entries are chosen by the keys of whoever had the page before: a wrong first token, then a
         reply that follows it.
Fix      engine.runner.gate.EveryRead.
"""

from __future__ import annotations

from engine.defects.registry import defect
from engine.runner.gate import EveryRead


@defect(
    seam="read_gate",
    origin="seed investigation, hypothesis cleared by the getter's own wait",
    kind="corrupting",
    evidence=["read_before_load", "read_during_load"],
)
class IndexKDoesNotWait(EveryRead):
    """Every pool waits but one."""

    def waits(self, pool: str, layer: int) -> bool:
        """Let the indexer read whatever is there."""
        return pool != "index_k"
