"""`kvlab bench bisect`: the table, the one document, and what it says of a mistake."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from rich.console import Console

from lab.bench_bisect import Cell, Row, Summary
from lab.bench_bisect_cells import BOTH, BY_HAND, GROUPS
from lab.bench_bisect_table import tables
from lab.commands.output import show
from lab.progress import counting


def test_the_command_prints_a_table_with_every_column(kvlab) -> None:
    said = kvlab("bench", "bisect", "--quick", "--worlds", "1", "--jobs", "1")
    assert said.code == 0 and said.err == ""
    for head in ("method", "k = 1", "k = 2", "k = 3", "lower bound", "34", "56", "71"):
        assert head in said.out
    for each in (*BY_HAND, *BOTH):
        assert each.label in said.out
    assert sum("  and confirmed" in line for line in said.out.splitlines()) == 3
    assert "600/600/0" in said.out and "p1 = .17, background 0 (1 worlds a cell)" in said.out
    assert max(map(len, said.out.splitlines())) <= 100


def test_the_command_s_json_is_one_document_and_equal_seeds_give_equal_ones(kvlab) -> None:
    argv = (
        "bench",
        "bisect",
        "--quick",
        "--worlds",
        "2",
        "--methods",
        "ddmin, quickxplain",
        "--json",
        "--jobs",
        "1",
    )
    said, again, other = kvlab(*argv), kvlab(*argv), kvlab(*argv, "--seed", "4")
    found = json.loads(said.out)
    assert said.err == "" and found["seed"] == 0 and len(found["cells"]) == 3
    assert said.out == again.out
    assert json.loads(other.out)["cells"] != found["cells"]


def test_the_command_names_the_methods_there_are(kvlab) -> None:
    said = kvlab("bench", "bisect", "--methods", "brute")
    assert said.code == 2 and said.out == "" and "accepted: ofat" in said.err


def test_the_widest_figures_fit_a_hundred_columns_uncut(capsys: pytest.CaptureFixture[str]) -> None:
    wide = Summary(worlds=1000, mean=12345.6, p95=19999, wrong=52.25, undecided=34.25)
    rows = tuple(Row(each.label, False, wide, wide) for each in GROUPS[1].contenders)
    cells = [Cell("background", 0.17, 0.005, k, 1234.5, rows) for k in (1, 2, 3)]
    show(tables(cells, 10))
    said = capsys.readouterr().out
    assert said.count("12346/19999/52.2 ?34.2") == 2 * 3 * len(rows)
    assert max(map(len, said.splitlines())) <= 100
    assert "…" not in said


def test_progress_counts_worlds_where_somebody_watches() -> None:
    screen = StringIO()
    with counting("bench bisect", "worlds", Console(file=screen, force_terminal=True)) as tick:
        tick(3, 7)
    assert "bench bisect" in screen.getvalue() and "3/7" in screen.getvalue()


def test_progress_is_silent_where_nobody_does() -> None:
    screen = StringIO()
    with counting("bench bisect", "worlds", Console(file=screen)) as tick:
        tick(3, 7)
    assert screen.getvalue() == ""


def test_bench_engine_on_no_kind_of_device_names_what_is_accepted_and_no_file(kvlab) -> None:
    said = kvlab("bench", "engine", "--device", "mars")
    told = "--device: 'mars' is not accepted; accepted: cpu, cuda, cuda:<number>"
    assert (said.code, said.out, said.err) == (2, "", f"kvlab: {told}\n")


def test_bench_engine_on_a_device_that_is_not_here_is_one_line(kvlab) -> None:
    said = kvlab("bench", "engine", "--device", "cuda:9", "--sessions", "1")
    assert said.code == 2 and said.out == ""
    assert "device is 'cuda:9'" in said.err and said.err.count("\n") == 1
