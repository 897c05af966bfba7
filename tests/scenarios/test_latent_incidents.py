"""Faults that are reached only past a size, in whole runs: below it nothing, above it replies.

Each shipped file at a size of seconds: fewer and shorter sessions on a pool that holds them all.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import pytest

from engine.defects import catalog
from engine.scribe.combiner import LARGE_STEP
from tests.scenarios.whole import Ran, arms, quick, run, scenario

SESSIONS = 8
LIMIT = 1 << 31


class Latent(NamedTuple):
    """A file, its failing arm, what makes it small, and the arms of which that changes nothing."""

    name: str
    bad: str
    innocent: str
    sets: tuple[str, ...]
    clean: tuple[str, ...]

    @property
    def file(self) -> str:
        return f"incidents/{self.name}"


ROOM = "engine.pool_pages=96"
OFFSET = Latent(
    "int32_logits_offset",
    "row 32 at 2^31",
    "row 32 at 2^31, eager",
    (ROOM, f"engine.logits_width={LIMIT // 4}"),  # of 8 rows the last four
    ("as wide as a context of 1M", "as wide as its own context"),
)
COMBINER = Latent(
    "sparse_prefill_combiner",
    "12,288 tokens a step",
    "12,288 tokens a step, eager",
    (ROOM,),
    ("11,520 tokens a step", "8,192 tokens a step", "2,048 tokens a step"),
)
BOTH = (OFFSET, COMBINER)
EACH = pytest.mark.parametrize("of", BOTH, ids=lambda of: of.name)
CLEAN = [(of, arm) for of in BOTH for arm in of.clean]


@functools.lru_cache(maxsize=16)
def ran(of: Latent, arm: str, seed: int = 0, *sets: str) -> Ran:
    """An arm at test size."""
    return Ran(*run(scenario(of.file, SESSIONS, *of.sets, *sets), arm, seed))


@EACH
def test_above_its_size_replies_are_corrupt_and_its_evidence_alone_is_seen(of: Latent) -> None:
    found = ran(of, of.bad)
    assert found.as_expected, found.verdict
    assert found.verdict.replies_corrupt > 0
    assert {*found.verdict.seen} == {*catalog()[of.name].evidence}


@EACH
def test_the_same_load_on_a_healthy_build_passes_and_goes_as_far(of: Latent) -> None:
    found = ran(of, of.bad, 0, "build=[]")
    assert found.clean, found.verdict
    past = {
        OFFSET: found.count("largest:logits_offset") >= LIMIT,
        COMBINER: found.count("large_prefill_rows") > LARGE_STEP,
    }
    assert past[of]


@pytest.mark.parametrize("arm", quick(OFFSET.clean, OFFSET.clean[0]))
def test_below_2_to_the_31_the_largest_offset_stays_and_nothing_is_wrong(arm: str) -> None:
    found = ran(OFFSET, arm)
    assert found.clean, found.verdict
    assert 0 < found.count("largest:logits_offset") < LIMIT


@pytest.mark.parametrize("arm", quick(COMBINER.clean, "8,192 tokens a step"))
def test_at_chunks_of_production_no_row_goes_the_large_way(arm: str) -> None:
    found = ran(COMBINER, arm)
    assert found.clean, found.verdict
    assert found.count("large_prefill_rows") == 0
    assert 0 < found.count("largest:prefill_rows") <= LARGE_STEP


@pytest.mark.parametrize("arm", quick(arms(OFFSET.file)[-1:] + arms(COMBINER.file)[-1:]))
def test_few_at_a_time_are_clean_too(arm: str) -> None:
    [of] = [of for of in BOTH if arm in arms(of.file)]
    small = Ran(*run(scenario(of.file, 2, ROOM), arm))
    assert small.clean, small.verdict


@pytest.mark.slow
@EACH
def test_an_innocent_change_clears_nothing(of: Latent) -> None:
    found = ran(of, of.innocent)
    assert found.as_expected, found.verdict


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
@EACH
def test_it_fails_so_on_other_seeds_and_below_its_size_does_not(of: Latent, seed: int) -> None:
    found = ran(of, of.bad, seed)
    assert found.as_expected and found.verdict.replies_corrupt > 0, found.verdict
    assert ran(of, of.bad, seed, "build=[]").clean
    assert all(ran(of, arm, seed).clean for arm in of.clean)
