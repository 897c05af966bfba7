"""What `bench ledger` tells of the levels: ratios of one round, their bounds, what was found."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from lab.bench_ledger import Level, Spent, _level, document, load, measure, table


def test_a_ratio_is_that_of_two_runs_of_one_round() -> None:
    off = [Spent(2.0, 1.0, 0), Spent(20.0, 1.0, 0), Spent(2.0, 1.0, 0)]
    full = [Spent(3.0, 1.5, 0), Spent(30.0, 1.5, 1), Spent(3.0, 1.5, 0)]
    level = _level("full", full, off)
    assert (level.wall_ratio, level.cpu_ratio, level.wall_s) == (1.5, 1.5, 3.0)
    assert level.violations == 1


def test_every_level_is_run_in_every_round_and_a_healthy_engine_is_told_of_nothing() -> None:
    ticks: list[tuple[int, int]] = []
    levels = measure(load(1, "small"), 1, 0, lambda done, due: ticks.append((done, due)))
    assert ticks == [(done, 3) for done in range(1, 4)]
    assert [level.level for level in levels] == ["off", "tags", "full"]
    assert levels[0].wall_ratio == levels[0].cpu_ratio == 1.0
    assert all(level.wall_s > 0 and level.violations == 0 for level in levels)
    said = document(levels, 1, 1, 0)
    assert [row["bound"] for row in said["levels"]] == [None, 1.25, 2.0]


def test_the_table_has_a_row_a_level_and_fits() -> None:
    levels = [Level("off", 2.0, 1.0, 1.0, 1.0, 0), Level("full", 3.0, 1.3, 1.5, 1.3, 0)]
    console = Console(width=100, file=StringIO())
    console.print(table(levels, 24, 3))
    said = console.file.getvalue()  # type: ignore[attr-defined]
    for word in ("24 reference sessions", "wall / off", "full", "1.50", "1.30", "2.0"):
        assert word in said
