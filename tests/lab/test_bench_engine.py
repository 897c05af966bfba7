"""What `bench engine` tells: rates of full steps, and what a decode step is made of."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import pytest
import torch
from rich.console import Console

from engine.events import Event
from lab.bench_engine import load, measure, rates, table
from lab.bench_window import Window, short
from tests.lab.samples import history


def step(name: str, start_us: int, end_us: int, **more: int) -> tuple[int, str, dict[str, object]]:
    return 0, "span", {"name": name, "start_us": start_us, "end_us": end_us, **more}


def decode(rows: int) -> Event:
    return Event(0, "decode", {"rows": rows, "size": rows})


def test_decode_is_told_at_the_median_of_the_fullest_steps_and_prefill_as_a_whole() -> None:
    events = [
        step("prefill", 0, 1_000_000, tokens=500, rows=1),
        step("prefill", 0, 1_000_000, tokens=1500, rows=1),
        *(step("decode", 0, us, rows=8, size=8) for us in (90_000, 4_000, 4_000)),
        step("decode", 0, 1_000, rows=1, size=1),
    ]
    found = rates(replace(history("one"), events=events, wall_s=2.0))
    assert (found["decode_rows"], found["decode_step_ms"]) == (8, 4.0)
    assert found["decode_tokens_per_s"] == 2000.0
    assert (found["prefill_tokens"], found["prefill_tokens_per_s"]) == (2000, 1000.0)


def test_a_window_opens_once_the_batch_is_full_and_settled_and_ends_the_arm() -> None:
    window = Window("cpu", rows=4, steps=2, settled=2)
    heard = []
    for event in (*(decode(rows) for rows in (1, 4, 4)), Event(0, "prefill", {})):
        heard.append(window(event))
    for _ in range(2):
        torch.zeros(64).neg_()
        heard.append(window(decode(4)))
    assert heard == [False, False, False, False, False, True]
    assert (window.steps, window.prefills) == (2, 1)
    calls = {it.name: it.calls for it in window.shares()}
    assert calls["aten::neg_"] == 1.0
    assert sum(it.share for it in window.shares()) == pytest.approx(1.0)


def test_a_window_that_never_opened_has_nothing_to_tell() -> None:
    window = Window("cpu", rows=4)
    assert not window(decode(3)) and window.shares() == []


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        ("_indexer_logits_kernel", "_indexer_logits_kernel"),
        ("void at::native::fill<4, (lambda)>(int)", "fill"),
        ("Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD"),
    ],
)
def test_a_kernel_is_told_by_its_plain_name(kernel: str, name: str) -> None:
    assert short(kernel) == name


def test_both_arms_are_measured_and_the_table_fits() -> None:
    ticks: list[tuple[int, int]] = []
    found = measure(load(2, "cpu", "small"), lambda *tick: ticks.append(tick), steps=2)
    assert ticks == [(done, 5) for done in range(1, 6)]
    assert [arm["name"] for arm in found["arms"]] == ["graph on", "graph off"]
    for arm in found["arms"]:
        assert arm["decode_rows"] == 2 and arm["decode_tokens_per_s"] > 0
        assert arm["prefill_tokens_per_s"] > 0 and arm["watched_steps"] == 2
        assert arm["kernels"][0]["share"] > 0
    file = StringIO()
    Console(width=100, file=file).print(table(found))
    said = file.getvalue()
    assert "cpu: 2 requests at once" in said and "decode, tokens/s" in said
    assert "aten::" in said and max(map(len, said.splitlines())) <= 100
