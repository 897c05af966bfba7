"""backup_races_compute: a copy to the host is made before the step that it waits for has run."""

from __future__ import annotations

import pytest

from engine.cache.questions import CacheQuestions
from engine.defects.backup_races_compute import OnceLaunched
from tests.engine.cache.test_serving import HostBench
from tests.engine.sched.fakes import prompt


def serve(ask: CacheQuestions, overlap: bool, policy: str = "write_through") -> HostBench:
    """One prompt of three chunks, on an idle link."""
    more = {"overlap": overlap, "policy": policy, "ask": ask, "pages_per_s": 100.0}
    bench = HostBench(**more)  # type: ignore[arg-type]
    bench.add(prompt(0, 1500), 3)
    while bench.step():
        pass
    bench.cache.poll()
    return bench


def test_under_overlap_the_host_has_what_a_page_held_before_its_step() -> None:
    bench = serve(CacheQuestions(backup_start=OnceLaunched()), overlap=True)
    assert bench.tier.changed
    assert bench.count("pages_backed_up") >= len(bench.tier.changed)


@pytest.mark.parametrize("overlap", [False, True], ids=["normal", "overlap"])
def test_the_same_prompt_is_copied_as_it_is_on_a_healthy_build(overlap: bool) -> None:
    bench = serve(CacheQuestions(), overlap)
    assert bench.tier.changed == []
    assert bench.count("pages_backed_up")


def test_without_overlap_there_is_no_step_to_race() -> None:
    bench = serve(CacheQuestions(backup_start=OnceLaunched()), overlap=False)
    assert bench.tier.changed == []


def test_a_copy_made_on_eviction_has_no_step_to_race() -> None:
    bench = serve(CacheQuestions(backup_start=OnceLaunched()), True, "write_back")
    assert bench.tier.changed == []
