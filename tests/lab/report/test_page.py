"""The page of a run: whole, with nothing from elsewhere, and links that lead somewhere."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from lab.exposure import FOREIGN
from lab.report.html.run import run_page, worst
from lab.store import RunStatus
from tests.lab.report.pages import BUILD, Read, clean_run, corrupt_run, read

PARTS = (
    *("rates", "where", "wrong", "ledger", "explained", "exposure", "counters", "latency"),
    *("untested", "incidents", "names", "settings", "repeat"),
)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of a corrupt run with its figures."""
    return run_page(corrupt_run(tmp_path_factory.mktemp("figures")))


def test_every_tag_is_closed_and_every_address_is_of_one_thing(text: str) -> None:
    page = Read(text)
    assert page.open == [] and len(page.ids) == len({*page.ids})


def test_the_page_loads_nothing_and_runs_nothing(text: str) -> None:
    assert Read(text).loads == [] and "@import" not in text and "http-equiv" in text
    assert {*re.findall(r"url\((.)", text)} <= {"#"}


def test_links_lead_to_parts_or_to_public_reports(text: str) -> None:
    page = Read(text)
    outside = [link for link in page.links if not link.startswith("#")]
    assert {link[1:] for link in page.links if link.startswith("#")} <= {*page.ids}
    assert outside and all(re.match(r"https://github\.com/.+/issues/\d+$", it) for it in outside)


def test_the_verdict_is_one_sentence_before_all_else(text: str) -> None:
    words = Read(text).words
    assert words.index('"bf16, graph on" corrupts 10 of 60 sessions') < words.index("Wilson 95 %")
    assert text.index('id="verdict"') < text.index("<nav")


def test_every_part_is_there_and_named_in_the_contents(text: str) -> None:
    page = Read(text)
    assert [part for part in PARTS if part not in page.ids or f"#{part}" not in page.links] == []


def test_the_defect_in_the_build_and_what_named_it_have_cards(text: str) -> None:
    page = Read(text)
    assert {BUILD, "padded_row_wrote_owned_slot"} <= {*page.ids}
    assert "https://github.com/sgl-project/sglang/issues/24743" in page.links
    assert "#padded_row_wrote_owned_slot" in page.links and "healthy class" in page.words


def test_an_outcome_class_that_occurred_is_said_in_words(text: str) -> None:
    words = Read(text).words
    assert words.count("leaked_markup") >= 2 and "loop" not in words


def test_figures_are_inside_with_the_page_s_colours(text: str) -> None:
    page = Read(text)
    assert page.tags.count("svg") == page.tags.count("figure") == 4
    assert {"figure-rates", "figure-buckets", "figure-slices", "figure-times"} <= {*page.ids}
    drawn = text[text.index("<svg") :]
    assert "#0072b2" not in drawn and "var(--blue)" in drawn and "currentColor" in drawn


def test_a_figure_is_told_to_who_cannot_see_it(text: str) -> None:
    labels = re.findall(r'role="img" aria-label="([^"]+)"', text)
    assert len(labels) == 4 and all(labels)


def test_the_page_is_small(text: str) -> None:
    assert len(text.encode()) < 1_500_000


def test_signs_of_markup_are_text() -> None:
    page = read(clean_run("<b>a & b</b> `x`"))
    assert page.open == [] and "b" not in page.tags and "<b>a & b</b>" in page.words


def test_a_clean_run_has_no_part_that_tells_nothing() -> None:
    page = read(clean_run())
    assert not {"explained", "geometry", "servers", "incidents", "names", "figures"} & {*page.ids}
    assert "a rate below 6.0 % is not excluded by n = 60" in page.words


def test_of_somebody_else_s_server_no_ledger_is_told() -> None:
    told = clean_run()
    told.histories[0].events.append((0, FOREIGN, {"url": "http://x", "boot": 1, "model": "m"}))
    words = read(told).words
    assert "only what came back was judged" in words and "without a ledger" in words


def test_what_was_cut_short_is_not_called_clean() -> None:
    verdict = replace(clean_run().verdict, incomplete="interrupted: 1 of 3 arms")
    assert worst(verdict, "interrupted") == "interrupted"
    assert worst(replace(verdict, incomplete=""), "done") == "clean"
    assert worst(replace(corrupt_run().verdict, incomplete="x"), "interrupted") == "corrupt"


def test_a_verdict_is_not_said_twice() -> None:
    told = clean_run()
    cut = replace(told.verdict, incomplete="interrupted: 1 of 3 arms")
    stored = replace(told.stored, status=RunStatus.INTERRUPTED)
    words = read(replace(told, verdict=cut, stored=stored)).words
    assert "interrupted 1 of 3 arms; every arm is clean" in words


def test_one_wrong_reply_is_explained_step_by_step(text: str) -> None:
    words = Read(text).words
    assert "First wrong token" in words and "What the arm went through" in words


def test_a_run_of_a_build_that_is_gone_has_a_page_without_its_card(tmp_path: Path) -> None:
    told = corrupt_run()
    gone = replace(told, stored=replace(told.stored, yaml="build: [gone]\n"))
    assert "gone" not in read(gone).ids
