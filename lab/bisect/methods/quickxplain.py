"""QuickXplain: divide, and explain one half while the other is bad.

One rule: it believes every probe, and asks few of them, so it can afford a test at .001.

Source  Junker, QuickXplain: Preferred Explanations and Relaxations for Over-Constrained Problems
        (AAAI 2004). Toggles earlier in the file are preferred as culprits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.bisect.conclusion import Discovery
from lab.bisect.methods import METHODS
from lab.bisect.oracle import Oracle, background, discovery, needless, rate
from lab.bisect.probe_tests import FirstProof, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.bisect.methods import Believe
    from lab.bisect.notebook import Notebook
    from lab.bisect.parameters import Parameters
    from lab.bisect.space import Space
    from lab.bisect.trials import Unit

ALPHA = 0.001  # of each error of a probe, unless the search is held to less


@METHODS.register("quickxplain")
def quickxplain(
    notebook: Notebook, space: Space, params: Parameters, unit: Unit, believe: Believe
) -> Discovery:
    """Every probe errs with at most ``ALPHA`` at the culprit's rate, and ends with its proof."""
    p1, p0 = rate(notebook, space, params, unit), background(params)
    try:
        units, most = size(p1, p0, min(ALPHA, params.alpha))
    except ValueError as error:
        return Discovery(None, space.toggles, reason=str(error))
    return discovery(Oracle(notebook, space, unit, FirstProof(units, most), believe), minimal)


def minimal(oracle: Oracle) -> int:
    """A minimal bad configuration."""
    bits = [1 << i for i in range(len(oracle.space.toggles))]
    found = oracle.space.valid_part(explain(oracle, 0, False, bits))
    # a skipped probe was taken for a good one, which keeps toggles that nothing needs
    return needless(oracle, found) if oracle.skipped else found


def explain(oracle: Oracle, fixed: int, grown: bool, bits: Sequence[int]) -> int:
    """What of ``bits`` it takes besides ``fixed``; ``grown``: ``fixed`` may be enough by itself."""
    if grown and oracle.bad(fixed):
        return 0
    if len(bits) <= 1:
        return sum(bits)
    half = (len(bits) + 1) // 2
    first, second = bits[:half], bits[half:]
    later = explain(oracle, fixed | sum(first), True, second)
    return later | explain(oracle, fixed | later, later != 0, first)
