"""Delta debugging: halves, then quarters, of the configuration and what is left without them.

One rule: it believes every probe, so each must err rarely: its units are chosen for that.

Source  Zeller & Hildebrandt, Simplifying and Isolating Failure-Inducing Input (2002), `ddmin`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from lab.bisect.conclusion import Discovery
from lab.bisect.methods import METHODS
from lab.bisect.oracle import Oracle, background, discovery, rate
from lab.bisect.probe_tests import FixedSize, Wald, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.bisect.methods import Believe
    from lab.bisect.notebook import Notebook
    from lab.bisect.parameters import Parameters
    from lab.bisect.space import Space
    from lab.bisect.trials import Unit


@METHODS.register("ddmin")
def ddmin(
    notebook: Notebook, space: Space, params: Parameters, unit: Unit, believe: Believe
) -> Discovery:
    """Every probe has so many units that it errs with at most ``alpha`` at the culprit's rate."""
    p1, p0 = rate(notebook, space, params, unit), background(params)
    try:
        units, most = size(p1, p0, params.alpha)
    except ValueError as error:
        return Discovery(None, space.toggles, reason=str(error))
    test = FixedSize(units, most)
    return discovery(Oracle(notebook, space, unit, test, believe), minimal)


def ddmin_wald(
    notebook: Notebook, space: Space, params: Parameters, unit: Unit, believe: Believe
) -> Discovery:
    """The same search; a probe ends when Wald's test does."""
    p1, p0 = rate(notebook, space, params, unit), background(params)
    if p1 <= p0:
        return Discovery(None, space.toggles, reason=f"a rate of {p1:.3g} is a background's")
    test = Wald(p1, p0, params.alpha)
    return discovery(Oracle(notebook, space, unit, test, believe), minimal)


def minimal(oracle: Oracle) -> int:
    """A bad configuration from which no single toggle can be taken: it is 1-minimal."""
    bits = [1 << i for i in range(len(oracle.space.toggles))]
    pieces = 2
    while len(bits) > 1:
        parts = split(bits, pieces)
        rests = [[bit for bit in bits if bit not in part] for part in parts]
        if part := first_bad(oracle, parts):
            bits, pieces = part, 2
        elif rest := first_bad(oracle, rests):
            bits, pieces = rest, max(pieces - 1, 2)
        elif pieces < len(bits):
            pieces = min(2 * pieces, len(bits))
        else:
            break
    return oracle.space.valid_part(sum(bits))


def first_bad(oracle: Oracle, some: Sequence[list[int]]) -> list[int]:
    """The first of them that is bad; none is empty."""
    return next((bits for bits in some if oracle.bad(sum(bits))), [])


def split(bits: Sequence[int], pieces: int) -> list[list[int]]:
    """``pieces`` runs of about equal length, none of them empty."""
    ends = [len(bits) * i // pieces for i in range(pieces + 1)]
    return [list(bits[a:b]) for a, b in pairwise(ends)]
