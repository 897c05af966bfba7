"""The whole engine under its shadow: nothing is told of a healthy build, and of a broken one what
its readers met.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from engine.engine import Engine
from engine.handle import Handle
from engine.runner.rows import decode_rows
from engine.sched.batch import DecodeBatch
from engine.shadow.compute import NoStepWatch
from engine.shadow.ledger import NoLedger
from tests.engine.shadow.steps import Steps, tokens
from tests.engine.waves import SESSIONS, Waves, config, play

TOGGLES: list[dict[str, Any]] = [
    {},
    {"overlap": True},
    {"graph": True},
    {"index_k": "bf16", "graph": True, "overlap": True},
    {"hicache": False, "chunked_prefill": 256},
    {"hicache": False, "radix": False, "overlap": True},
    {"hisparse": True, "graph": True, "overlap": True},
    {"poison_free_pages": True, "allocator": "random"},
    {"hicache_write": "write_back", "overlap": True},
]


def told(waves: Waves, name: str) -> list[dict[str, Any]]:
    """The violations of one name, in order."""
    events = waves.engine.events.events
    return [e.fields for e in events if e.kind == "violation" and e.fields["name"] == name]


def replies(shortest: int = 20, longer: int = 0, sessions: int = 3, **toggles: Any) -> Waves:
    """Sessions at once, each of which says more than the one before."""

    async def story(waves: Waves) -> None:
        each = (waves.reply(s, shortest + longer * i) for i, s in enumerate(SESSIONS[:sessions]))
        await asyncio.gather(*each)
        await waves.reply(SESSIONS[0], 12, turn=1)

    return play(config(**toggles), story)


@pytest.mark.parametrize("toggles", TOGGLES, ids=str)
def test_a_healthy_engine_is_told_nothing_of(toggles: dict[str, Any]) -> None:
    assert replies(**toggles).seen == []


@pytest.mark.parametrize("ledger", ["tags", "full"])
def test_a_full_pool_that_takes_rows_back_and_ends_some_in_flight_is_no_news(ledger: str) -> None:
    async def story(waves: Waves) -> None:
        handles = [waves.submit(s, 90) for s in SESSIONS[:4]]
        going = [
            _read(handle, most) for handle, most in zip(handles, (90, 20, 90, 35), strict=True)
        ]
        await asyncio.gather(*going)
        await waves.rest()

    waves = play(config(pool_pages=13, overlap=True, hicache=False, ledger=ledger), story)
    assert waves.seen == []
    for name in ("retractions", "aborts_in_flight", "deferred_releases"):
        assert waves.count(name) > 0, name


async def _read(handle: Handle, most: int) -> None:
    """Groups of a reply, and no more than so many: then it is not wanted any more."""
    groups = 0
    async for _ in handle:
        groups += 1
        if groups == most:
            handle.abort()


def test_padding_that_wrote_is_named_by_who_reads_the_row() -> None:
    toggles = {"graph": True, "index_k": "bf16", "hicache": False, "pool_pages": 40}
    waves = replies(longer=30, sessions=4, build=("padded_scatter_stale_slots",), **toggles)
    lanes = told(waves, "padded_row_wrote_owned_slot")
    found = told(waves, "read_foreign_row")
    assert found and {each["writer_kind"] for each in found} == {"padding"}
    assert found[0]["slot"] in {each["slot"] for each in lanes}
    assert found[0]["writer"] in {each["writer"] for each in lanes}


def test_index_keys_of_pages_that_share_bytes_are_foreign() -> None:
    toggles = {"index_k": "bf16", "hicache": False}
    waves = replies(build=("index_k_under_allocated",), **toggles)
    assert {each["pool"] for each in told(waves, "read_foreign_row")} == {"index_k"}


def test_a_row_that_is_a_token_ahead_of_its_request_reads_another_row_s() -> None:
    steps = Steps()
    req = steps.admit(tokens(300))
    steps.prefill(req)
    steps.watch.launched(DecodeBatch([req], [301]))
    x = decode_rows([req], [301], steps.table)
    steps.watch.rows(x, 2, steps.trace(x.c4_out_loc - 1), None)
    found = next(each for each in steps.seen if each["name"] == "token_of_another_row")
    assert (found["request"], found["position"], found["output"]) == (req.id, 300, 1)


def test_nobody_looks_where_the_ledger_is_off() -> None:
    async def story(waves: Waves) -> None:
        engine: Engine = waves.engine
        assert engine.shadow is None
        assert isinstance(engine.runner.shadow, NoStepWatch)
        assert isinstance(engine.runner.ledger, NoLedger)
        await waves.read(SESSIONS[0], 3)
        await waves.rest()

    play(config(ledger="off"), story)
