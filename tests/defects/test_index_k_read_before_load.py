"""index_k_read_before_load: the indexer chooses by the keys of whoever had the page before."""

from __future__ import annotations

from typing import Any

import pytest

from engine.defects import catalog
from tests.engine.waves import MINE, Waves, config, known, play

NAME = "index_k_read_before_load"


def restored(**toggles: Any) -> tuple[Waves, bool]:
    """A prefix that comes back from the host: whether its reply is the known one."""
    right: list[bool] = []

    async def story(waves: Waves) -> None:
        await waves.flood()
        right.append(await waves.reply(MINE[0], 40) == known(MINE[0], 40))
        assert waves.count("host_hits") == 1

    return play(config(poison_free_pages=True, **toggles), story), right[0]


@pytest.mark.parametrize("overlap", [False, True], ids=["normal", "overlap"])
def test_on_a_slow_link_index_keys_are_read_before_they_are_there(overlap: bool) -> None:
    waves, right = restored(host_gb_per_s=0.1, overlap=overlap, build=(NAME,))
    assert waves.seen == [f"violation:{name}" for name in catalog()[NAME].evidence]
    fields = [e.fields for e in waves.engine.events.events if e.kind == "violation"]
    of_model, of_pool = [(each["pool"], each["layer"]) for each in fields]
    assert (of_model, of_pool) == (("index_k", 3), ("index_k", 0))
    assert not right


def test_on_a_fast_link_they_are_there_in_time() -> None:
    waves, right = restored(host_gb_per_s=55.0, build=(NAME,))
    assert (waves.seen, right) == ([], True)


def test_a_healthy_build_waits() -> None:
    waves, right = restored(host_gb_per_s=0.1)
    assert (waves.seen, right) == ([], True)
