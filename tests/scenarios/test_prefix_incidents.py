"""The incidents of the prefix cache and its host tier in whole runs, one seed for both builds.

Each shipped file at a size of seconds: fewer sessions, and a pool that is too small for those.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import pytest

from engine.defects import catalog
from lab.scenario.loader import capped, load_scenario
from tests.scenarios.whole import ROOT, Ran, run


class Incident(NamedTuple):
    """A file, its size under test, its failing arm, an arm that cures it, an innocent change.

    ``moved`` are the counters without which the healthy twin of the failing arm proves nothing.
    """

    name: str
    sessions: int
    pool_pages: int
    bad: str
    cure: str
    innocent: str
    moved: tuple[str, ...]
    preset: str = ""  # in place of the file's, where that is too large

    @property
    def sets(self) -> list[str]:
        """What makes the file as small as the test."""
        preset = [f"workload.preset={self.preset}"] if self.preset else []
        return [*preset, f"engine.pool_pages={self.pool_pages}"]


INCIDENTS = (
    Incident(
        name="publish_before_write",
        sessions=4,
        pool_pages=48,
        bad="radix on, admitted together",
        cure="radix off, admitted together",
        innocent="engine.topk=v2",
        moved=("prefix_hits",),
    ),
    Incident(
        name="eviction_between_lookup_and_pin",
        sessions=4,
        pool_pages=16,
        bad="radix on, pool too small",
        cure="radix on, pool never full",
        innocent="engine.graph=false",
        moved=("prefix_hits", "evicted_pages"),
    ),
    Incident(
        name="backup_races_compute",
        sessions=4,
        pool_pages=16,
        bad="hicache on, overlap on",
        cure="hicache on, overlap off",
        innocent="engine.index_k=bf16",
        moved=("pages_backed_up", "pages_restored", "overlap_steps"),
    ),
    Incident(
        name="load_into_page_in_use",
        sessions=8,
        pool_pages=26,
        bad="hicache on, pages recycled",
        cure="hicache on, one at a time",
        innocent="engine.index_k=bf16",
        moved=("pages_restored", "evicted_pages"),
    ),
    Incident(
        name="host_page_reused_before_load_ack",
        sessions=4,
        pool_pages=20,
        bad="write_back, host full",
        cure="write_back, host never full",
        innocent="engine.index_k=bf16",
        moved=("pages_restored", "host_evicted_pages"),
    ),
    Incident(
        name="evicted_though_backup_failed",
        sessions=2,
        pool_pages=21,
        bad="write_back, host full",
        cure="write_through, host full",
        innocent="engine.index_k=bf16",
        moved=("pages_restored", "backups_refused"),
    ),
    Incident(
        name="index_k_read_before_load",
        sessions=2,
        pool_pages=12,
        bad="hicache on, a slow link",
        cure="hicache on, a link of PCIe 5",
        innocent="engine.graph=false",
        moved=("pages_restored", "host_hits"),
        preset="small_dirty",
    ),
)
EACH = pytest.mark.parametrize("of", INCIDENTS, ids=lambda of: of.name)


@functools.lru_cache(maxsize=16)
def ran(of: Incident, arm: str, seed: int = 0, *sets: str) -> Ran:
    """An arm at test size. An arm that names its own pool keeps it."""
    path = ROOT / "incidents" / f"{of.name}.yaml"
    file = load_scenario(path, [*of.sets, *sets])
    return Ran(*run(capped(file, of.sessions), arm, seed))


def others() -> list[tuple[Incident, str]]:
    """The arms that the tests below do not run in any case."""
    return [
        (of, arm.name)
        for of in INCIDENTS
        for arm in load_scenario(ROOT / "incidents" / f"{of.name}.yaml").arms
        if arm.name not in (of.bad, of.cure)
    ]


@EACH
def test_the_defect_fails_by_name_and_replies_show_it(of: Incident) -> None:
    found = ran(of, of.bad)
    assert found.as_expected, found.verdict
    assert {*catalog()[of.name].evidence} <= {*found.verdict.violations}
    assert found.verdict.replies_corrupt > 0


def test_a_read_that_does_not_wait_is_wrong_though_every_page_comes_back_as_it_went() -> None:
    [of] = [of for of in INCIDENTS if of.name == "index_k_read_before_load"]
    found = ran(of, of.bad)
    assert found.moved("restored_differs:") == {}
    assert {*found.verdict.violations} == {*catalog()[of.name].evidence}


@EACH
def test_the_same_load_on_a_healthy_build_passes_where_it_goes_the_same_way(of: Incident) -> None:
    found = ran(of, of.bad, 0, "build=[]")
    assert found.clean, found.verdict
    assert all(found.count(name) > 0 for name in of.moved), found.verdict.exposure


@pytest.mark.slow
@EACH
def test_its_cure_clears_it(of: Incident) -> None:
    found = ran(of, of.cure)
    assert found.clean, found.verdict


@pytest.mark.slow
@EACH
def test_an_innocent_change_clears_nothing(of: Incident) -> None:
    found = ran(of, of.bad, 0, of.innocent)
    assert found.as_expected, found.verdict


@pytest.mark.slow
@pytest.mark.parametrize(("of", "arm"), others(), ids=lambda value: getattr(value, "name", value))
def test_every_other_arm_concludes_what_its_file_expects(of: Incident, arm: str) -> None:
    found = ran(of, arm)
    assert found.as_expected, found.verdict


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
@EACH
def test_it_fails_so_on_other_seeds_and_the_healthy_build_passes(of: Incident, seed: int) -> None:
    found = ran(of, of.bad, seed)
    assert found.as_expected, found.verdict
    assert found.verdict.replies_corrupt > 0
    assert ran(of, of.bad, seed, "build=[]").clean
    assert ran(of, of.cure, seed).clean
