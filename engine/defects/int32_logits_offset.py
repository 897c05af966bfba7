"""The indexer's logits kernel takes row times width in int32, which a long context overflows.

Origin   the seed investigation, by audit: ``out_addr = logits_ptr + b * max_seq_len + t_global`` of
         indexer.py, at 512k of context half way to the limit; no run of theirs reached it.
Trigger  row x width at or above 2^31 entries: 8,192 rows x 262,144 entries, a context of 1,048,576.
         Here a step has at most as many rows as requests run, so ``logits_width`` makes up for it:
         64 rows x 33,554,432. Any smaller product is right to the last entry.
Symptom  the row's logits land before the buffer; it selects by what nobody wrote, and its reply
         goes wrong. Rows with smaller numbers, of the same step, are right.
Fix      engine.runner.logits_rows.InInt64: int64 before the multiply.
"""

from __future__ import annotations

from engine.defects.registry import defect
from engine.runner.logits_rows import InInt64
from kernels.defects.int32_logits_offset import row_offset


@defect(
    seam="logits_offset",
    origin="the seed investigation, indexer.py",
    kind="latent",
    evidence=["logits_outside_their_row"],
)
class InInt32(InInt64):
    """A product of two int32 stays an int32."""

    def of(self, row: int, width: int) -> int:
        """The product, wrapped."""
        return row_offset(row, width)
