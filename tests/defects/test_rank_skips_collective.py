"""rank_skips_collective: who stays away from the all-reduce over the polls, and when."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.defects import seams
from engine.disagg.rooms import KVPoll

NAME = "rank_skips_collective"
POLLS = st.lists(st.sampled_from(list(KVPoll)), max_size=6)
IN_FLIGHT = st.integers(0, 2)


@given(POLLS, IN_FLIGHT)
def test_a_rank_stays_away_if_it_sees_a_failure_with_a_batch_in_flight(
    polls: list[KVPoll], in_flight: int
) -> None:
    stays_away = in_flight > 0 and KVPoll.FAILED in polls
    assert seams([NAME]).poll_agreement().enters(polls, in_flight) is not stays_away


@given(POLLS, IN_FLIGHT)
def test_a_healthy_build_always_comes(polls: list[KVPoll], in_flight: int) -> None:
    assert seams([]).poll_agreement().enters(polls, in_flight)
