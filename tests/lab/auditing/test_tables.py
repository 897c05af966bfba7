"""An audit for a person: the number nearest to its bound, and all of what failed."""

from __future__ import annotations

from typing import Any

import pytest

from lab.auditing.tables import failures, nearest, tables
from lab.commands.output import show

NAN = float("nan")


def line(ok: bool = True, **changes: Any) -> dict[str, Any]:
    made = {
        "kernel": "indexer_logits",
        "check": "rows that fit no word, however long",
        "implementation": "triton compiled",
        "inputs": "four rows",
        "measured": {"relative l2": 0.5, "bytes differing": 0.0},
        "bound": {"relative l2": 1.0, "bytes differing": 0.0},
        "ok": ok,
    }
    return made | changes


def document(*lines: dict[str, Any]) -> dict[str, Any]:
    overlap = {"rows": 4, "mean": 0.97, "least": 0.91}
    return {
        "device": "NVIDIA H200",
        "implementation": "triton compiled",
        "versions": {"torch": "2.13.0+cpu", "triton": "3.7.1"},
        "seed": 0,
        "checks": [*lines],
        "addressing": [],
        "jaccard": [
            {"keys": "an unread lane of 100,000", "dtype": "bf16", "entries": n} | overlap
            for n in (2048 << i for i in range(7))
        ],
    }


@pytest.mark.parametrize(
    ("measured", "name"),
    [
        ({"a": 0.1, "b": 0.0}, "a"),
        ({"a": 0.9, "b": 3.0}, "b"),
        ({"a": NAN, "b": 3.0}, "a"),
    ],
)
def test_the_number_nearest_to_its_bound_is_shown(measured: dict[str, float], name: str) -> None:
    assert nearest(measured, {"a": 1.0, "b": 0.0})[0] == name


def test_every_number_of_a_failed_check_is_told_and_which_is_out() -> None:
    bad = line(False, measured={"relative l2": 3.0, "bytes differing": NAN})
    assert list(failures(document(line(), bad))) == [
        "FAILED indexer_logits: rows that fit no word, however long (triton compiled)",
        "  of four rows",
        "  relative l2: 3, at most 1  <-",
        "  bytes differing: nan, at most 0  <-",
    ]


def test_what_a_check_raised_is_told() -> None:
    raised = line(False, error="ValueError: no", measured={}, bound={})
    assert list(failures(document(raised)))[1:] == ["  ValueError: no"]


def test_each_implementation_has_a_table_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    show(tables(document(line(), line(implementation="reference"))))
    said = capsys.readouterr().out
    assert "triton compiled, beside float64" in said and "reference, beside float64" in said


def test_where_no_check_was_asked_none_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    show(tables(document()))
    said = capsys.readouterr().out
    assert "Jaccard" in said and "passed" not in said


def test_tables_fit_a_hundred_columns_uncut(capsys: pytest.CaptureFixture[str]) -> None:
    bad = line(False, error="ValueError: no", measured={}, bound={})
    show(tables(document(line(), bad)))
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 100 and "…" not in said
    assert "1 of 2 checks passed: triton compiled" in said and "NO" in said
    assert "(0.910)" in said and "131,072" in said
