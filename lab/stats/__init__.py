"""Small-sample statistics of rates: an interval, a test and the interval of a difference.

One rule: every function is pure and takes counts, never rates, so that n is never lost.
"""

from lab.stats.rates import Interval, fisher, newcombe, wilson

__all__ = ["Interval", "fisher", "newcombe", "wilson"]
