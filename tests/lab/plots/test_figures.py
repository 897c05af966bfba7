"""Figures: equal records give equal bytes, and the words in them are the numbers."""

from __future__ import annotations

import hashlib
import itertools
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from lab.errors import UserError
from lab.plots import FIGURES, buckets, rates, sweep
from lab.plots.style import styled
from lab.report.figures import save_figures
from tests.lab import ladders
from tests.lab.samples import findings, history, run_verdict, sample_run

if TYPE_CHECKING:
    from pathlib import Path

AGAIN = """
import sys
from pathlib import Path
from tests.lab.plots.test_figures import drawn
for name, digest in drawn(Path(sys.argv[1])).items():
    print(name, digest)
"""


def drawn(folder: Path) -> dict[str, str]:
    """The sample run's figures: file name and digest of its bytes."""
    verdict, arms = sample_run()
    paths = save_figures(verdict, arms, {arm.name: findings(arm) for arm in arms}, folder)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def texts(figure: object) -> str:
    """Every word in a figure."""
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    assert isinstance(figure, Figure)
    found = figure.findobj(lambda artist: isinstance(artist, Text))
    return "\n".join(artist.get_text() for artist in found if isinstance(artist, Text))


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The sample run's figures, drawn once."""
    return drawn(tmp_path_factory.mktemp("first"))


def test_each_figure_is_a_png_and_an_svg_with_stable_bytes(
    first: dict[str, str], tmp_path: Path
) -> None:
    names = ("buckets", "rates", "slices", "times")
    assert list(first) == [f"{name}.{end}" for name in names for end in ("png", "svg")]
    command = [sys.executable, "-c", AGAIN, str(tmp_path)]
    again = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert dict(line.split() for line in again.splitlines()) == first


def test_another_run_of_the_same_seed_draws_the_same(first: dict[str, str], tmp_path: Path) -> None:
    verdict, arms = sample_run("20270101T000000-ffff")
    save_figures(verdict, arms, {arm.name: findings(arm) for arm in arms}, tmp_path)
    for name, digest in first.items():
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == digest


def test_rates_say_n_interval_and_p() -> None:
    verdict, arms = sample_run()
    with styled():
        said = texts(rates.draw(verdict, arms, {}))
    assert "10 of 60: 16.7 % [9.3–28.0]\ncorrupt" in said
    assert "0 of 60: 0 % [0–6.0]\nclean, p = 0.0013" in said
    assert "Wilson 95 % interval" in said
    assert "seed 7" in said


def test_buckets_say_their_n_and_show_where_it_went_wrong() -> None:
    verdict, arms = sample_run()
    with styled():
        said = texts(buckets.draw(verdict, arms, {arm.name: findings(arm) for arm in arms}))
    assert "bf16, graph on\n10 of 240 replies corrupt, n = 30 a bucket" in said
    assert "211–240" in said
    late = buckets.buckets(arms[0], findings(arms[0]))
    assert [bucket.corrupt for bucket in late] == [0, 0, 0, 0, 0, 0, 2, 8]


def test_buckets_cover_every_request_that_was_sent_once() -> None:
    arm = history("one", sessions=61, turns=3)
    arm.replies[5] = replace(arm.replies[5], status="not_sent")
    arm.replies[6] = replace(arm.replies[6], due=False)
    found = buckets.buckets(arm, [])
    assert [found[0].first, found[-1].last] == [1, 181]
    assert all(a.last + 1 == b.first for a, b in itertools.pairwise(found))
    assert max(b.n for b in found) - min(b.n for b in found) <= 1


def test_unknown_findings_and_other_kinds_are_no_corruption() -> None:
    arm = history("one", corrupt=4)
    (first, second, third, _) = findings(arm)
    kinds = [replace(first, outcome="unknown"), replace(second, kind="parser_fault"), third]
    assert sum(bucket.corrupt for bucket in buckets.buckets(arm, kinds)) == 1


def test_few_requests_are_one_bucket_and_none_are_none() -> None:
    few = history("few", sessions=3, turns=1)
    assert [bucket.n for bucket in buckets.buckets(few, [])] == [3]
    few.replies = []
    assert buckets.buckets(few, []) == []


def test_a_run_too_short_for_two_buckets_draws_its_rates_and_its_times(tmp_path: Path) -> None:
    arms = [history("short", sessions=3)]
    paths = save_figures(run_verdict("r", arms, {"short": 0}), arms, {}, tmp_path)
    assert [path.name for path in paths] == ["rates.png", "rates.svg", "times.png", "times.svg"]


def test_a_run_without_arms_draws_nothing(tmp_path: Path) -> None:
    verdict, _ = sample_run()
    assert save_figures(replace(verdict, arms=()), [], {}, tmp_path / "none") == []


def test_many_arms_with_long_names_are_drawn(tmp_path: Path) -> None:
    names = {f"{i}: index_k=bf16, graph=true, overlap=false, topk=v2": 0 for i in range(9)}
    arms = [history(name, sessions=6) for name in names]
    assert len(save_figures(run_verdict("r", arms, names), arms, {}, tmp_path)) == 6


def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot write figures"):
        drawn(tmp_path / "file" / "figures")


def test_a_figures_name_is_its_files() -> None:
    for name, draw in FIGURES.all().items():
        assert draw.__module__ == f"lab.plots.{name}"


def test_a_sweep_shows_every_level_with_its_n_and_the_bracket() -> None:
    with styled():
        figure = sweep.draw(ladders.run({1: 0, 2: 0, 4: 3, 16: 9}), [], {})
        said = texts(figure)
    assert "9 of 40" in said
    assert "concurrency turns between 2" in said
    assert "Wilson 95 %" in said
    (axes,) = figure.axes if figure is not None else []
    assert axes.get_xscale() == "log"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "2", "4", "16"]


def test_arms_that_are_no_ladder_draw_no_sweep() -> None:
    verdict, arms = sample_run()
    assert sweep.draw(verdict, arms, {}) is None
