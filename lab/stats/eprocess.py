"""Evidence that one arm's rate is above another's, which may be looked at after every block.

One rule: a block's bet is fixed before the block is seen.
"""

from __future__ import annotations

from math import exp, log

from scipy.special import xlog1py, xlogy

from lab.stats.rates import ALPHA, check_counts

PRIOR = 0.18  # of Beta priors, the one of least regret (Turner, Ly and Grünwald 2024)


class TwoProportion:
    """E-process against "the rate of a is at most that of b" (Turner and Grünwald 2023).

    Under that hypothesis the product over blocks ever reaches 1/alpha with probability at most
    alpha. Blocks may be of any size and the arms unequal; a block of one arm alone bets nothing.
    ``a`` and ``b`` are counts seen elsewhere (corrupt, units) that shape the first bet.
    """

    def __init__(self, a: tuple[int, int] = (0, 0), b: tuple[int, int] = (0, 0)) -> None:
        check_counts(*a)
        check_counts(*b)
        self._a, self._b = a, b
        self._log = 0.0

    @property
    def e_value(self) -> float:
        """The evidence so far; 1.0 at the start."""
        return exp(min(self._log, 700.0))

    def rejects(self, alpha: float = ALPHA) -> bool:
        """Whether the evidence has reached 1/alpha."""
        return self._log >= -log(alpha)

    def add(self, corrupt_a: int, units_a: int, corrupt_b: int, units_b: int) -> None:
        """One block of both arms."""
        check_counts(corrupt_a, units_a)
        check_counts(corrupt_b, units_b)
        if units_a and units_b:
            rate_a, rate_b = self._bet()
            null = (units_a * rate_a + units_b * rate_b) / (units_a + units_b)
            self._log += _log_ratio(corrupt_a, units_a, rate_a, null)
            self._log += _log_ratio(corrupt_b, units_b, rate_b, null)
        self._a = (self._a[0] + corrupt_a, self._a[1] + units_a)
        self._b = (self._b[0] + corrupt_b, self._b[1] + units_b)

    def _bet(self) -> tuple[float, float]:
        """Rates of the past, smoothed; one and the same where a's is not above b's."""
        (k_a, n_a), (k_b, n_b) = self._a, self._b
        rate_a = (k_a + PRIOR) / (n_a + 2 * PRIOR)
        rate_b = (k_b + PRIOR) / (n_b + 2 * PRIOR)
        if rate_a >= rate_b:
            return rate_a, rate_b
        both = (k_a + k_b + PRIOR) / (n_a + n_b + 2 * PRIOR)
        return both, both


def _log_ratio(k: int, n: int, rate: float, null: float) -> float:
    return float(xlogy(k, rate / null) + xlog1py(n - k, -rate) - xlog1py(n - k, -null))
