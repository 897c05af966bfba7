"""The e-process against its definition: at most 1 on average under every null, at any time."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import comb, log

import numpy as np
import pytest

from lab.stats import TwoProportion

Block = tuple[int, int]  # units of a and of b
NULLS = [(a, b) for a in (0.0, 0.01, 0.17, 0.5, 0.93, 1.0) for b in (0.0, 0.01, 0.3, 0.5, 0.93, 1)]
PASTS = [((0, 0), (0, 0)), ((3, 4), (0, 4)), ((9, 9), (0, 30)), ((1, 60), (0, 5)), ((0, 4), (4, 4))]


def chance(k: int, n: int, p: float) -> float:
    return float(comb(n, k) * p**k * (1 - p) ** (n - k))


def outcomes(block: Block, p_a: float, p_b: float) -> Iterator[tuple[tuple[int, int], float]]:
    """Every answer to a block, and its probability."""
    for k_a, k_b in product(range(block[0] + 1), range(block[1] + 1)):
        yield (k_a, k_b), chance(k_a, block[0], p_a) * chance(k_b, block[1], p_b)


@pytest.mark.parametrize("past", PASTS)
@pytest.mark.parametrize("block", [(1, 1), (3, 3), (1, 4), (5, 2), (10, 10), (1, 0), (0, 3)])
def test_a_block_is_worth_at_most_one_on_average_under_every_null(
    past: tuple[tuple[int, int], tuple[int, int]], block: Block
) -> None:
    worth = {}
    for k_a, k_b in product(range(block[0] + 1), range(block[1] + 1)):
        evidence = TwoProportion(*past)
        evidence.add(k_a, block[0], k_b, block[1])
        worth[k_a, k_b] = evidence.e_value
    for p_a, p_b in NULLS:
        if p_a <= p_b:
            mean = sum(worth[seen] * weight for seen, weight in outcomes(block, p_a, p_b))
            assert mean <= 1 + 1e-9


def after(path: tuple[tuple[int, int], ...], blocks: list[Block]) -> TwoProportion:
    evidence = TwoProportion()
    for (k_a, k_b), (n_a, n_b) in zip(path, blocks, strict=False):
        evidence.add(k_a, n_a, k_b, n_b)
    return evidence


@pytest.mark.parametrize("rates", [(0.2, 0.2), (0.5, 0.5), (0.1, 0.4)])
def test_so_is_the_product_over_blocks_that_bet_on_what_came_before(
    rates: tuple[float, float],
) -> None:
    blocks: list[Block] = [(1, 1), (2, 1), (1, 1), (1, 2), (1, 1)]
    seen = [list(outcomes(block, *rates)) for block in blocks]
    mean = 0.0
    for path in product(*seen):
        weight = float(np.prod([one for _, one in path]))
        mean += weight * after(tuple(answer for answer, _ in path), blocks).e_value
    assert 0.2 < mean <= 1 + 1e-9


def ever_rejected(p: float, alpha: float, pairs: int) -> float:
    """Exact probability of reaching 1/alpha within so many pairs, over all paths."""
    total = 0.0
    alive: list[tuple[tuple[tuple[int, int], ...], float]] = [((), 1.0)]
    for _ in range(pairs):
        following = []
        for path, weight in alive:
            for answer, one in outcomes((1, 1), p, p):
                longer = (*path, answer)
                if after(longer, [(1, 1)] * pairs).rejects(alpha):
                    total += weight * one
                else:
                    following.append((longer, weight * one))
        alive = following
    return total


@pytest.mark.parametrize("p", [0.2, 0.5, 0.8])
def test_a_true_null_is_ever_rejected_with_at_most_alpha_over_all_paths(p: float) -> None:
    assert 0.0 < ever_rejected(p, 0.4, 6) <= 0.4


@pytest.mark.parametrize(("p", "block"), [(0.05, 5), (0.3, 1), (0.5, 10)])
def test_a_true_null_is_ever_rejected_with_at_most_alpha_over_long_runs(
    p: float, block: int
) -> None:
    rng = np.random.default_rng([19, block])
    rejected = 0
    for _ in range(400):
        evidence = TwoProportion()
        for k_a, k_b in rng.binomial(block, p, size=(60, 2)):
            evidence.add(int(k_a), block, int(k_b), block)
            if evidence.rejects(0.1):
                rejected += 1
                break
    assert rejected / 400 <= 0.1


def test_a_bet_is_the_likelihood_ratio_of_the_past_rates_to_their_mean() -> None:
    evidence = TwoProportion(a=(3, 4), b=(0, 4))
    evidence.add(2, 3, 0, 1)
    prior = Fraction(18, 100)
    rate_a, rate_b = ((k + prior) / (4 + 2 * prior) for k in (3, 0))
    null = (3 * rate_a + rate_b) / 4
    expected = rate_a**2 * (1 - rate_a) * (1 - rate_b) / (null**2 * (1 - null) ** 2)
    assert evidence.e_value == pytest.approx(float(expected))


def test_evidence_grows_as_fast_as_if_the_rates_were_known_but_for_learning_them() -> None:
    p_a, p_b, pairs = 0.3, 0.1, 2000
    null = (p_a + p_b) / 2
    fastest = sum(
        p * log(p / null) + (1 - p) * log((1 - p) / (1 - null)) for p in (p_a, p_b)
    )  # a pair, on average
    rng = np.random.default_rng([23])
    grown = []
    for _ in range(10):
        evidence = TwoProportion()
        for k_a, k_b in rng.binomial(1, [p_a, p_b], size=(pairs, 2)):
            evidence.add(int(k_a), 1, int(k_b), 1)
        grown.append(log(evidence.e_value) / pairs)
    assert float(np.mean(grown)) == pytest.approx(fastest, rel=0.1)


def pairs_needed(start: tuple[tuple[int, int], tuple[int, int]]) -> float:
    """On average, at .17 against 0 and an alpha of 1/300."""
    rng = np.random.default_rng([29])
    needed = 0
    for _ in range(100):
        evidence = TwoProportion(*start)
        while not evidence.rejects(1 / 300):
            evidence.add(int(rng.binomial(1, 0.17)), 1, 0, 1)
            needed += 1
    return needed / 100


def test_a_rate_of_seventeen_per_cent_that_is_gone_shows_in_some_sixty_pairs() -> None:
    assert 45 < pairs_needed(((0, 0), (0, 0))) < 75


def test_knowing_the_rates_from_elsewhere_saves_pairs() -> None:
    assert pairs_needed(((5, 30), (0, 10))) < 0.95 * pairs_needed(((0, 0), (0, 0)))


def test_evidence_for_the_other_direction_is_no_evidence() -> None:
    evidence = TwoProportion()
    for _ in range(50):
        evidence.add(0, 2, 1, 2)
    assert evidence.e_value == pytest.approx(1.0)
    assert not evidence.rejects()


def test_a_block_of_one_arm_bets_nothing_and_is_learnt_from() -> None:
    evidence, told = TwoProportion(), TwoProportion(a=(5, 9))
    evidence.add(5, 9, 0, 0)
    assert evidence.e_value == 1.0
    for one in (evidence, told):
        one.add(1, 1, 0, 1)
    assert evidence.e_value == told.e_value


def test_overwhelming_evidence_stays_finite() -> None:
    evidence = TwoProportion()
    for _ in range(40):
        evidence.add(100, 100, 0, 100)
    assert evidence.rejects(1e-300)
    assert np.isfinite(evidence.e_value)


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="0 <= k <= n"):
        TwoProportion().add(2, 1, 0, 1)
    with pytest.raises(ValueError, match="0 <= k <= n"):
        TwoProportion(b=(2, 1))
