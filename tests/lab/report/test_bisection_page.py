"""The page of a bisection: its sections, its figures inside, and links that lead somewhere."""

from __future__ import annotations

import pytest

from lab.bisect.conclusion import Verdict
from lab.report.html.bisection import Told, bisection_page
from lab.report.written import write_bisection
from tests.lab.bisections import ID, ended, stored
from tests.lab.report.pages import BUILD, Read


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Read:
    """As it is written beside its figures."""
    folder = tmp_path_factory.mktemp("bisection")
    write_bisection(ended(Verdict.CONFIRMED), stored(), folder)
    return Read((folder / "report.html").read_text(encoding="utf-8"))


def test_it_is_whole_and_loads_nothing(page: Read) -> None:
    assert page.open == [] and page.loads == [] and len(page.ids) == len({*page.ids})
    inside = {link[1:] for link in page.links if link.startswith("#")}
    assert inside <= {*page.ids}


def test_the_verdict_comes_first_then_toggles_probes_and_how_to_repeat_it(page: Read) -> None:
    marks = [
        "index_k=bf16 and graph=true together",
        "Toggles",
        "What was not tested",
        "kvlab bisect",
    ]
    places = [page.words.index(mark, page.words.index(ID)) for mark in marks]
    assert places == sorted(places)


def test_its_figures_stand_in_it_and_the_defect_has_a_card(page: Read) -> None:
    assert {"figure-posterior", "figure-probes", BUILD, "padded_row_wrote_owned_slot"} <= {
        *page.ids
    }


@pytest.mark.parametrize("verdict", list(Verdict))
def test_every_verdict_has_a_page_figures_or_not(verdict: Verdict) -> None:
    page = Read(bisection_page(Told(ended(verdict), stored())))
    assert page.open == [] and "svg" not in page.tags
    assert page.words.index(verdict) < page.words.index("To repeat it")
