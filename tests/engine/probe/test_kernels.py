"""The gaps that the coefficients of the probe's kernels are there for, over the whole context."""

from __future__ import annotations

import numpy as np
import pytest

from engine.probe import kernels
from engine.probe.codes import GATHER, REF_GATHER

DISTANCES = np.arange(kernels.CONTEXT)
SIZES = sorted(kernels.PAIRS)


@pytest.mark.parametrize("head_dim", SIZES)
@pytest.mark.parametrize("offset", [0, 1, 3, *GATHER[-2:], *REF_GATHER])
def test_an_exact_offset_stands_1_above_every_other_distance(head_dim: int, offset: int) -> None:
    score = kernels.scores(kernels.exact_offset(head_dim, offset), head_dim, DISTANCES)
    assert score[offset] - np.delete(score, offset).max() > 1


@pytest.mark.parametrize("head_dim", SIZES)
def test_a_near_anchor_stands_1_above_every_earlier_one(head_dim: int) -> None:
    score = kernels.scores(kernels.recent_anchor(head_dim), head_dim, DISTANCES)
    best_from = np.maximum.accumulate(score[::-1])[::-1]
    near = DISTANCES[: kernels.NEAR + 1]
    assert (score[near] - best_from[near + kernels.APART]).min() > 1


@pytest.mark.parametrize("head_dim", SIZES)
def test_no_distance_scores_2_more_than_a_near_anchor(head_dim: int) -> None:
    """So that a flag of more than that keeps rows that are no anchors out."""
    score = kernels.scores(kernels.recent_anchor(head_dim), head_dim, DISTANCES)
    assert score.max() - score[: kernels.NEAR + 1].min() < 2


@pytest.mark.parametrize("head_dim", SIZES)
def test_the_first_pair_of_content_turns_less_than_a_third_over_the_context(head_dim: int) -> None:
    turn = 10 ** (-32 / head_dim * kernels.PAIRS[head_dim]) * kernels.CONTEXT
    assert turn < 0.34


@pytest.mark.parametrize("head_dim", SIZES)
def test_the_frequencies_are_those_of_the_rotary_embedding(head_dim: int) -> None:
    powers = np.arange(0, head_dim, 2) / head_dim
    expected = (1 / kernels.THETA**powers)[: kernels.PAIRS[head_dim]]
    assert np.allclose(kernels.frequencies(head_dim), expected, rtol=1e-12)
