"""What a known reply should have read, and what a fault says that it did to it.

One rule: of a server that tells no rows, the place is known from the text alone; a fault's own
words are set beside it, and say whether they speak of that place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.placing.evidence import Evidence
from lab.placing.judge import Places

if TYPE_CHECKING:
    from lab.explaining.explanation import Explanation
    from lab.placing.evidence import Met
    from lab.placing.judge import Lost


def should_have_read(it: Explanation) -> list[str]:
    """The place of the first wrong token; nothing where the load does not tell its texts."""
    lost = Places(it.history).lost(it.reply)
    return [f"{lost.said}."] if lost is not None else []


def fault_says(it: Explanation) -> list[str]:
    """Damage that the build's fault logged of this request; nothing where there is no fault."""
    met = Evidence(it.history).met_by(it.reply)
    lost = Places(it.history).lost(it.reply)
    return [f"{each.said}: {_there(each, lost)}." for each in met]


def _there(met: Met, lost: Lost | None) -> str:
    if lost is None:
        return "what was to be read is not known"
    return "the place is in it" if met.holds(lost) else "the place is elsewhere"
