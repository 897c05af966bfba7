"""Every edge that the tiers and the pair draw is needed: without that one, a healthy course of
things has a finding. One drop each, and none with all of them.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.shadow.host_world import Shadowed
from tests.engine.shadow.two_sides import TwoSides

SRC, DST = [2, 3], [5, 6]


def nothing(*_: Any) -> None:
    return


def tiers_run(tiers: Shadowed) -> list[str]:
    """Pages go to the host and come back, a step reads them, and all is given back."""
    shadow, memory = tiers.host.shadow, tiers.memory
    tiers.step([1, 2])
    host = tiers.back_up([1, 2])
    memory.freed([1, 2], "the cache")
    tiers.restore(host, [5, 6])
    for layer in range(4):
        shadow.waited(shadow.loads_into([5, 6]), layer)
    reader = memory.begin("decode", "decode step 9", memory.compute, lanes=(7,))
    found = [each.page for each in memory.book.reads(reader, [5, 6])]
    tiers.host.loaded([5, 6])
    tiers.host.free(host)
    said = [str(event["edge"]) for event in tiers.violations("unordered_access")]
    return [*said, *[f"decode step 9 did not wait for load 1 on {page}" for page in found]]


@pytest.mark.parametrize(
    ("edge", "found"),
    [
        ("", []),
        ("host to backup", ["backup 1 did not wait for prefill step 1"]),
        (
            "backup to host",
            [
                "the release by the cache did not wait for backup 1",
                "load 1 did not wait for backup 1",
                "the release of host pages did not wait for backup 1",
            ],
        ),
        (
            "layer to compute",
            [f"decode step 9 did not wait for load 1 on {page}" for page in (5, 6)],
        ),
        ("load to host", ["the release of host pages did not wait for load 1"]),
    ],
)
def test_of_the_tiers(edge: str, found: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    tiers = Shadowed()
    shadow, clocks = tiers.host.shadow, tiers.memory.clocks
    backup, wait = clocks.stream("backup"), clocks.wait
    drop = {
        "host to backup": (clocks, "wait", lambda to, of: to == backup or wait(to, of)),
        "backup to host": (shadow, "settled", nothing),
        "layer to compute": (shadow, "waited", nothing),
        "load to host": (shadow, "loaded", nothing),
    }
    if edge:
        monkeypatch.setattr(*drop[edge])
    assert tiers_run(tiers) == found


def pair_run(it: TwoSides) -> list[str]:
    """A room comes through, another one is revoked, and all is given back on both sides."""
    for page in SRC:
        it.computed(page, 100 + page)
    it.decode.taken(DST)
    it.told()
    it.land(it.post(1, it.kv([2], [5]), "1_kv"))
    it.edges.heard("1_kv")
    it.decode.freed([5], "request 1")
    late = it.post(2, it.kv([3], [6]), "2_kv")
    it.tags.revoked(2)
    it.tags.ended(late)
    it.decode.freed([6], "request 2")
    for room in (1, 2):
        it.edges.ended(room, None)
    it.prefill.freed(SRC, "the cache")
    return [str(event["edge"]) for event in it.seen]


@pytest.mark.parametrize(
    ("edge", "found"),
    [
        ("", []),
        ("turn", [f"wire write of room {room} did not wait for prefill step 1" for room in (1, 2)]),
        ("heard", ["the release by request 1 did not wait for wire write of room 1"]),
        ("revoked", ["the release by request 2 did not wait for wire write of room 2"]),
        (
            "ended",
            [f"the release by the cache did not wait for wire write of room {i}" for i in (2, 1)],
        ),
    ],
)
def test_of_the_pair(edge: str, found: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    it = TwoSides()
    if edge:
        monkeypatch.setattr(it.edges, edge, nothing)
    assert pair_run(it) == found
