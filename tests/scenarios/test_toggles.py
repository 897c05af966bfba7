"""What bisection may flip: each listed switch, alone, clears its incident or is innocent of it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

import pytest

from lab.scenario.loader import capped, load_scenario
from tests.scenarios import dirty, whole
from tests.scenarios import test_latent_incidents as latent
from tests.scenarios.test_prefix_incidents import INCIDENTS
from tests.scenarios.whole import Ran

if TYPE_CHECKING:
    from lab.scenario.models import Scenario

# how bad they are depends on the size under test
OF_THE_LOAD = {"concurrency", "pool_pages", "logits_width"}
PREFIX = {of.name: (of.sessions, tuple(of.sets)) for of in INCIDENTS} | {
    of.name: (latent.SESSIONS, (*whole.SMALL, *of.sets)) for of in latent.BOTH
}
DIRTY, SMALL = (dirty.SESSIONS, (*whole.SMALL, *dirty.DIRTY)), (8, whole.SMALL)


class Suspects(NamedTuple):
    """A file, its size under test, and who is to blame; every other switch it lists is not."""

    file: str
    size: tuple[int, tuple[str, ...]]
    culprits: frozenset[str]


def suspects(name: str, size: tuple[int, tuple[str, ...]], culprits: str) -> Suspects:
    """Of an incident, or of a hypothesis by its path."""
    return Suspects(name if "/" in name else f"incidents/{name}", size, frozenset(culprits.split()))


EVERY = tuple(
    suspects(name, PREFIX.get(name, size), culprits)
    for name, size, culprits in (
        ("padded_scatter_stale_slots", SMALL, "index_k graph concurrency"),
        ("padded_scatter_wraps_to_last_slot", SMALL, "index_k graph pool_pages"),
        ("index_k_under_allocated", SMALL, "index_k"),
        ("host_mirror_sized_as_fp8", DIRTY, "index_k hicache"),
        ("dsa_mirror_by_class_dtype", DIRTY, "host_strategy index_k hicache"),
        ("index_k_read_before_load", SMALL, "hicache host_gb_per_s"),
        ("hypotheses/token_granular_forced", DIRTY, "hicache hicache_layout"),
        ("publish_before_write", SMALL, "radix chunked_prefill concurrency"),
        ("eviction_between_lookup_and_pin", SMALL, "radix pool_pages"),
        ("backup_races_compute", SMALL, "hicache overlap hicache_write chunked_prefill"),
        ("load_into_page_in_use", SMALL, "hicache concurrency"),
        (
            "host_page_reused_before_load_ack",
            SMALL,
            "hicache host_ratio concurrency chunked_prefill hicache_write",
        ),
        ("int32_logits_offset", SMALL, "logits_width concurrency"),
        ("sparse_prefill_combiner", SMALL, "chunked_prefill concurrency"),
        ("evicted_though_backup_failed", SMALL, "hicache hicache_write host_ratio"),
    )
)


@functools.cache
def listed(file: str) -> Scenario:
    """The file as it is shipped."""
    return load_scenario(whole.ROOT / f"{file}.yaml")


def flipped(of: Suspects, key: str) -> Ran:
    """Every switch at its bad value, but ``key`` at its good one."""
    sessions, sets = of.size
    bad = {k: flip.bad for k, flip in listed(of.file).toggles.items() if k not in OF_THE_LOAD}
    values = {**bad, key: listed(of.file).toggles[key].good}
    file = capped(load_scenario(whole.ROOT / f"{of.file}.yaml", list(sets)), sessions)
    scenario = file.model_copy(update={"engine": {**file.engine, **values}})
    return Ran(*whole.run(scenario, scenario.arms[0].name))


@pytest.mark.parametrize("of", EVERY, ids=lambda of: of.file)
def test_who_is_to_blame_is_listed_and_the_first_arm_changes_nothing(of: Suspects) -> None:
    assert of.culprits <= {*listed(of.file).toggles}
    assert listed(of.file).arms[0].overrides == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("of", "key"),
    [(of, key) for of in EVERY for key in listed(of.file).toggles],
    ids=lambda value: getattr(value, "file", value),
)
def test_a_switch_clears_the_incident_if_it_is_to_blame_and_only_then(
    of: Suspects, key: str
) -> None:
    ran = flipped(of, key)
    if key in of.culprits:
        assert (ran.verdict.replies_corrupt, ran.verdict.seen) == (0, {})
    else:
        assert ran.as_expected, ran.verdict
        assert ran.verdict.replies_corrupt > 0
