"""Figures of a bisection: equal documents, equal bytes; no name over another; the words match."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from lab.bisect.conclusion import Belief, Verdict
from lab.plots.bisection import posterior, probes
from lab.plots.style import styled
from lab.report.figures import save_bisection_figures
from tests.lab.bisections import CONFIRMED, KEYS, SEARCHED, ended, told
from tests.lab.plots.test_figures import texts


def digests(folder: Path) -> dict[str, str]:
    paths = save_bisection_figures(told(CONFIRMED), folder)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def test_each_figure_is_a_png_and_an_svg_with_stable_bytes(tmp_path: Path) -> None:
    first = digests(tmp_path / "first")
    assert list(first) == ["posterior.png", "posterior.svg", "probes.png", "probes.svg"]
    assert digests(tmp_path / "again") == first


@pytest.mark.parametrize("verdict", list(Verdict))
def test_every_verdict_has_a_figure_of_its_probes(verdict: Verdict) -> None:
    document = ended(verdict)
    with styled():
        said = texts(probes.draw(document))
    assert f"{len(document['probes'])} probes, {document['sessions_spent']} sessions" in said
    corrupt, units = document["probes"][0]["units"]
    assert f"\n{corrupt}/{units}\n" in f"\n{said}\n"
    assert "reproduce" in said


def test_a_search_that_asked_nothing_has_no_figure() -> None:
    assert probes.draw(told(CONFIRMED, ())) is None


def test_rows_name_the_toggles_and_their_roles() -> None:
    with styled():
        said = texts(probes.draw(told(CONFIRMED)))
    for line in ("index_k, necessary", "overlap, innocent", "concurrency, aggravating"):
        assert line in said


def test_a_long_search_shows_its_ends_and_says_so() -> None:
    many = told(CONFIRMED, SEARCHED * 14)  # 126 probes
    with styled():
        said = texts(probes.draw(many))
    assert "6 probes in the middle are not shown" in " ".join(said.split())
    assert said.count("5/24") == 13  # one of fourteen is in the middle


def test_a_mark_is_full_half_or_a_frame() -> None:
    (*_, last) = told(CONFIRMED)["probes"]
    toggles = told(CONFIRMED)["toggles"]
    assert [probes.filled(last, it) for it in toggles] == ["full", "full", "full", "half"]
    (_, control, *_) = told(CONFIRMED)["probes"]
    assert [probes.filled(control, it) for it in toggles] == ["", "", "", ""]


@pytest.mark.parametrize("turns", [1, 2, 9])
def test_no_name_of_a_phase_lies_over_another_or_a_divider(turns: int) -> None:
    phases = ["reproduce", "control", "discover", "confirm", "threshold"]
    names = probes.staggered([phase for phase in phases for _ in range(turns)])
    wide = {phase: len(phase) * probes.LETTER / probes.COLUMN for phase in phases}
    for i, (column, phase, depth) in enumerate(names):
        for later, _, below in names[i + 1 :]:
            if later < column + wide[phase]:
                assert below > depth  # its name, and the divider that ends there
    assert max(depth for *_, depth in names) == {1: 4, 2: 4, 9: 0}[turns]


def test_at_most_six_sets_have_a_line_and_the_believed_one_is_first() -> None:
    sets = tuple(((a, b), 0.1) for a in KEYS for b in KEYS if a < b)
    crowded = replace(
        CONFIRMED,
        beliefs=(Belief(10, sets), Belief(20, tuple(((key,), 0.2) for key in KEYS))),
    )
    crowded = replace(crowded, beliefs=(*crowded.beliefs, *CONFIRMED.beliefs[1:]))
    found = posterior.leaders(posterior.discovery(told(crowded)))
    assert len(found) == 6 and found[0] == ("index_k", "graph")
    with styled():
        figure = posterior.draw(told(crowded))
    assert figure is not None
    legend = figure.axes[0].get_legend()
    assert legend is not None and len(legend.get_texts()) == 6


def test_levels_of_a_knob_are_no_sets_of_toggles() -> None:
    assert [it["sessions"] for it in posterior.discovery(told(CONFIRMED))] == [68, 88]
    with styled():
        said = texts(posterior.draw(told(CONFIRMED)))
    assert "concurrency at 4" not in said and "no toggle" in said and "index_k + graph" in said
    assert "15 of 84 sessions with both" in " ".join(said.split())


def test_a_method_without_a_posterior_has_no_figure_of_one() -> None:
    assert posterior.draw(told(replace(CONFIRMED, beliefs=()))) is None
    guessed = replace(CONFIRMED, beliefs=(Belief(68, ((("graph",), 0.0),)),))
    assert posterior.draw(told(guessed)) is None


def test_a_single_belief_is_drawn() -> None:
    with styled():
        said = texts(posterior.draw(ended(Verdict.UNDETERMINED)))
    assert "UNDETERMINED: 14 sets of toggles are left" in said
