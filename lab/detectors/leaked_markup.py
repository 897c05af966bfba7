"""Tool-call markup shown to the user as text: the call never reached the tool.

A reply that ran to its token limit is a loop or a cut tag; one that *stopped* like this looks
like a success to whoever counts finish reasons.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.detectors.base import Context, detector
from lab.detectors.surface import DSML, leaked

if TYPE_CHECKING:
    from lab.records import Reply


@detector(rank=20, weakness=True)
def leaked_markup(reply: Reply, context: Context) -> str | None:
    """DSML in the visible text, in any spelling of its bars, though the reply ended by itself."""
    return leaked(reply, DSML, "DSML")
