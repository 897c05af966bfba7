"""Clustered rates against statsmodels' linear model, every deal of the sessions, and simulation."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest, norm, t
from statsmodels.api import OLS
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.proportion import proportion_confint

from lab.stats import boot_correlation, clustered, wilson

UNEVEN = [(8, 10), (0, 12), (1, 9), (5, 10), (2, 15), (3, 4)]
Counts = list[tuple[int, int]]

boot = st.integers(0, 20).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
boots = st.lists(boot, max_size=12)


def sessions(counts: Counts) -> pd.DataFrame:
    """A row a session."""
    rows = [(i, float(j < k)) for i, (k, n) in enumerate(counts) for j in range(n)]
    return pd.DataFrame(rows, columns=["boot", "corrupt"])


def drawn(rate: float, rho: float, sizes: list[int], rng: np.random.Generator) -> Counts:
    """Boots whose rates are Beta around ``rate``, so that sessions correlate by ``rho``."""
    each = np.full(len(sizes), rate)
    if rho:
        spread = 1 / rho - 1
        each = rng.beta(rate * spread, (1 - rate) * spread, size=len(sizes))
    return [(int(rng.binomial(n, p)), n) for n, p in zip(sizes, each, strict=True)]


def test_the_interval_is_wilsons_at_the_cluster_robust_variance_of_statsmodels() -> None:
    table = sessions(UNEVEN)
    ones = np.ones(len(table))
    fit = OLS(table["corrupt"].to_numpy(), ones).fit(
        cov_type="cluster", cov_kwds={"groups": table["boot"].to_numpy()}
    )
    rate, variance = float(fit.params[0]), float(fit.cov_params()[0, 0])
    fewer = rate * (1 - rate) / variance * (norm.ppf(0.975) / t.ppf(0.975, len(UNEVEN) - 1)) ** 2
    expected = proportion_confint(rate * fewer, fewer, method="wilson")
    assert clustered(UNEVEN) == pytest.approx(expected)


def coverage(interval: str, rho: float) -> float:
    """Share of 2000 samples of 12 boots whose 95 % interval holds the rate of .2."""
    rng = np.random.default_rng([7, int(100 * rho)])
    held = 0
    for _ in range(2000):
        counts = drawn(0.2, rho, [10] * 12, rng)
        total = (sum(k for k, _ in counts), sum(n for _, n in counts))
        low, high = clustered(counts) if interval == "clustered" else wilson(*total)
        held += low <= 0.2 <= high
    return held / 2000


def test_where_sessions_of_a_boot_correlate_it_covers_and_wilsons_does_not() -> None:
    assert coverage("clustered", 0.2) > 0.94
    assert coverage("wilson", 0.2) < 0.80


def test_where_they_do_not_it_covers_too() -> None:
    assert coverage("clustered", 0.0) > 0.94


@given(boots)
def test_it_is_never_narrower_than_wilsons(counts: Counts) -> None:
    total = (sum(k for k, _ in counts), sum(n for _, n in counts))
    (low, high), (inner_low, inner_high) = clustered(counts), wilson(*total)
    assert 0.0 <= low <= inner_low + 1e-12
    assert inner_high - 1e-12 <= high <= 1.0


def test_boots_that_do_not_differ_give_wilsons_own() -> None:
    assert clustered([(2, 10)] * 6) == pytest.approx(wilson(12, 60))
    assert clustered([(0, 10)] * 6) == pytest.approx(wilson(0, 60))
    assert clustered([(0, 1), (1, 1)] * 20) != pytest.approx(clustered([(0, 10), (10, 10)] * 2))


def test_one_boot_counts_as_one_session_and_no_boot_as_none() -> None:
    low, high = clustered([(10, 60)])
    assert low < 0.01
    assert high > 0.8
    assert clustered([(0, 60)]) == pytest.approx(wilson(0, 1))
    assert clustered([]) == clustered([(0, 0)]) == (0.0, 1.0)


def test_rho_is_that_of_the_analysis_of_variance() -> None:
    squares = anova_lm(ols("corrupt ~ C(boot)", sessions(UNEVEN)).fit())["mean_sq"]
    between, within = squares["C(boot)"], squares["Residual"]
    sizes = [n for _, n in UNEVEN]
    size = (sum(sizes) - sum(n * n for n in sizes) / sum(sizes)) / (len(sizes) - 1)
    expected = (between - within) / (between + (size - 1) * within)
    assert boot_correlation(UNEVEN).rho == pytest.approx(expected)


def test_rho_by_hand() -> None:
    # 4 of 4 and 0 of 4: all variance is between boots. 1 of 2 twice: none is, (0 - .5)/(0 + .5).
    assert boot_correlation([(4, 4), (0, 4)]).rho == pytest.approx(1.0)
    assert boot_correlation([(1, 2), (1, 2)]).rho == pytest.approx(-1.0)


def test_rho_is_found_on_average() -> None:
    rng = np.random.default_rng([11])
    found = [boot_correlation(drawn(0.3, 0.2, [10] * 40, rng), rounds=1).rho for _ in range(300)]
    assert float(np.mean(found)) == pytest.approx(0.2, abs=0.02)


def test_p_is_the_share_of_deals_that_differ_as_much() -> None:
    counts = [(3, 4), (0, 4), (1, 3)]
    owner = [i for i, (_, n) in enumerate(counts) for _ in range(n)]
    rate = 4 / 11

    def spread(corrupt: list[int]) -> float:
        return sum((k - n * rate) ** 2 / n for k, (_, n) in zip(corrupt, counts, strict=True))

    seen = spread([k for k, _ in counts])
    deals = [[owner[i] for i in deal] for deal in combinations(range(11), 4)]
    far = sum(spread([deal.count(i) for i in range(3)]) >= seen - 1e-9 for deal in deals)
    assert boot_correlation(counts).p_value == pytest.approx(far / len(deals), abs=0.016)


def test_p_is_uniform_where_sessions_do_not_correlate() -> None:
    rng = np.random.default_rng([13])
    sizes = [7, 9, 10, 12, 13, 15, 20, 24]
    found = [
        boot_correlation(drawn(0.3, 0.0, sizes, rng), seed=i, rounds=199).p_value
        for i in range(1000)
    ]
    assert kstest(found, "uniform").pvalue > 0.05
    assert sum(p <= 0.05 for p in found) <= 70  # 50 and three deviations


def test_p_is_small_where_they_correlate_and_there_are_boots_enough() -> None:
    rng = np.random.default_rng([17])
    found = [
        boot_correlation(drawn(0.3, 0.2, [10] * 20, rng), rounds=199).p_value for _ in range(200)
    ]
    assert sum(p < 0.05 for p in found) > 170


@pytest.mark.parametrize(
    "counts",
    [[], [(3, 10)], [(3, 10), (0, 0)], [(0, 10)] * 5, [(10, 10)] * 5, [(0, 1), (1, 1), (1, 1)]],
)
def test_what_cannot_show_a_correlation_shows_none(counts: Counts) -> None:
    assert boot_correlation(counts).p_value == 1.0
    assert boot_correlation(counts).rho == 0.0
