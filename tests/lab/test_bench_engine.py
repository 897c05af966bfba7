"""What `bench engine` tells: rates of full steps, and what a decode step is made of."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import pytest
import torch
from rich.console import Console

from engine.events import Event
from lab.bench_engine import load, measure, rates, table
from lab.bench_window import Window, apart, short
from tests.lab.samples import history


def step(name: str, start_us: int, end_us: int, **more: int) -> tuple[int, str, dict[str, object]]:
    return 0, "span", {"name": name, "start_us": start_us, "end_us": end_us, **more}


def decode(rows: int) -> Event:
    return Event(0, "decode", {"rows": rows, "size": rows})


def test_decode_is_told_between_full_steps_with_what_the_host_does_and_without_prefill() -> None:
    events = [
        step("prefill", 500_000, 1_500_000, tokens=500, rows=1),
        step("decode", 1_500_000, 1_501_000, rows=1, size=1),
        *(step("decode", us, us + 4_000, rows=8, size=8) for us in (1_600_000, 1_610_000)),
        step("prefill", 1_620_000, 2_620_000, tokens=1500, rows=1),
        step("decode", 2_620_000, 2_622_000, rows=2, size=2),
        step("decode", 2_630_000, 2_640_000, rows=8, size=8),
        step("decode", 2_640_000, 2_641_000, rows=1, size=1),
    ]
    found = rates(replace(history("one"), events=events, wall_s=4.0))
    assert (found["decode_rows"], found["decode_step_ms"]) == (8, 4.0)
    assert found["decode_tokens_per_s"] == pytest.approx((3 * 8 + 2) / 0.04)
    assert (found["prefill_tokens"], found["prefill_tokens_per_s"]) == (2000, 1000.0)


def test_start_up_is_what_the_steps_do_not_span() -> None:
    ended = (3_000_000_000, "done", {})
    events = [step("prefill", 500_000, 1_500_000, tokens=500, rows=1), ended]
    assert rates(replace(history("one"), events=events, wall_s=4.0))["start_up_s"] == 1.5


def test_of_kernels_that_overlap_no_moment_is_told_twice() -> None:
    ran = [(3000.0, 5000.0, "b"), (0.0, 4000.0, "a"), (1000.0, 2000.0, "c"), (9000.0, 9500.0, "a")]
    assert apart(ran) == {"a": (4.5, 2), "c": (0.0, 1), "b": (1.0, 1)}


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
    assert ticks == [(done, 6) for done in range(1, 7)]
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
