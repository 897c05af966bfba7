"""dsa_mirror_by_class_dtype: latent, until the strategy that asks for it is chosen."""

from __future__ import annotations

import pytest

from engine.defects import catalog
from engine.shapes import geometry_of
from tests.engine.pools.mirrored import Tiers, round_trip

NAME = "dsa_mirror_by_class_dtype"


def test_the_strategy_that_sizes_by_class_damages_bf16_index_keys() -> None:
    tiers = Tiers(index_k="bf16", host_strategy="dsa", build=(NAME,))
    assert round_trip(tiers) == ["index_k"]
    assert tiers.counted("restored_differs:") == {"restored_differs:index_k": 1}
    evidence = {event.fields["name"] for event in tiers.events.events}
    assert evidence == {*catalog()[NAME].evidence}


@pytest.mark.parametrize(("index_k", "strategy"), [("bf16", "v4"), ("fp8", "v4"), ("fp8", "dsa")])
def test_no_other_configuration_reaches_it(index_k: str, strategy: str) -> None:
    tiers = Tiers(index_k=index_k, host_strategy=strategy, build=(NAME,))
    assert round_trip(tiers) == []
    assert tiers.events.events == []
    assert all(row.agrees for row in geometry_of(tiers.config))
