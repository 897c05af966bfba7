"""An interval of a rate that may be looked at after every unit.

One rule: it holds at all n at once, so one may stop when it says what one wants to hear.
"""

from __future__ import annotations

from math import log

from scipy.optimize import brentq
from scipy.special import betaln, xlog1py, xlogy

from lab.stats.rates import ALPHA, Interval, check_counts

TINY = 1e-12  # a rate nearer to 0 or 1 than this is not told from it
PRIOR = 0.5  # of the mixing Beta, on either side: Jeffreys'


def sequence(k: int, n: int, alpha: float = ALPHA) -> Interval:
    """Beta-binomial confidence sequence: the rate leaves it at some n with probability <= alpha.

    The rates p at which the Beta(1/2, 1/2) mixture over all rates is less than 1/alpha times as
    likely as p: a martingale at the true p (Ville 1939; Robbins 1970).
    """
    check_counts(k, n)
    mixture = float(betaln(k + PRIOR, n - k + PRIOR) - betaln(PRIOR, PRIOR))

    def excess(p: float) -> float:
        return mixture - float(xlogy(k, p) + xlog1py(n - k, -p)) + log(alpha)

    middle = k / n if n else 0.5
    low = 0.0 if excess(0.0) < 0 else float(brentq(excess, TINY, middle))
    high = 1.0 if excess(1.0) < 0 else float(brentq(excess, middle, 1.0 - TINY))
    return low, high
