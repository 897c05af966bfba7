"""Small-sample statistics of rates.

    rates       one rate: intervals and bounds         two_rates  two rates: tests, and a difference
    paired      two arms on equal seeds                boots      sessions that share a boot
    sequences   an interval valid at every look        eprocess   evidence valid at every look
    sprt        one rate or another, by few units      several    many tests at once
    between_boots  two arms by their boots

One rule: every function is pure and takes counts, never rates, so that n is never lost.
"""

from lab.stats.between_boots import least_p, permuted_boots
from lab.stats.boots import (
    Correlation,
    Counts,
    boot_correlation,
    clustered,
    design_effect,
    with_effect,
)
from lab.stats.eprocess import TwoProportion
from lab.stats.paired import mcnemar, paired_difference, paired_permutation
from lab.stats.rates import (
    CONFIDENCE,
    Interval,
    check_counts,
    clopper_pearson,
    lower_bound,
    upper_bound,
    wilson,
)
from lab.stats.sequences import sequence
from lab.stats.several import holm
from lab.stats.sprt import Sprt
from lab.stats.two_rates import Alternative, boschloo, difference, fisher, fisher_more, newcombe

__all__ = [
    "CONFIDENCE",
    "Alternative",
    "Correlation",
    "Counts",
    "Interval",
    "Sprt",
    "TwoProportion",
    "boot_correlation",
    "boschloo",
    "check_counts",
    "clopper_pearson",
    "clustered",
    "design_effect",
    "difference",
    "fisher",
    "fisher_more",
    "holm",
    "least_p",
    "lower_bound",
    "mcnemar",
    "newcombe",
    "paired_difference",
    "paired_permutation",
    "permuted_boots",
    "sequence",
    "upper_bound",
    "wilson",
    "with_effect",
]
