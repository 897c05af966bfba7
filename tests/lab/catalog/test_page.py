"""The page: whole, with nothing from elsewhere, and links that lead somewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from lab.catalog import Catalog
from lab.catalog.markdown import markdown
from lab.catalog.page import page

VOID = {"meta", "input", "wbr"}
LOADING = {"src", "srcset", "data", "poster", "action"}


class Read(HTMLParser):
    """The tags of a page, checked for being closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.loads += [f"{tag} {key}" for key in given if key in LOADING]
        self.loads += [tag] if tag in ("link", "img", "iframe", "object") else []
        self.ids += [given["id"] or ""] if "id" in given else []
        self.links += [given["href"] or ""] if tag == "a" else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="session")
def read(table: Catalog) -> Read:
    """The page of this checkout."""
    return Read(page(table))


def test_every_tag_is_closed_and_every_row_has_a_name_of_its_own(read: Read) -> None:
    assert read.open == [] and len(read.ids) == len({*read.ids})


def test_the_page_loads_nothing(table: Catalog, read: Read) -> None:
    assert read.loads == [] and "@import" not in page(table) and "url(" not in page(table)


def test_links_lead_to_rows_or_to_issues(read: Read) -> None:
    inside = {link[1:] for link in read.links if link.startswith("#")}
    outside = [link for link in read.links if not link.startswith("#")]
    assert inside <= {*read.ids}
    assert outside and all(re.fullmatch(r"https://github\.com/.+/issues/\d+", it) for it in outside)


def test_every_entry_is_a_row(table: Catalog, read: Read) -> None:
    rows = [it.name for it in (*table.incidents, *table.names)]
    assert read.ids == [*rows, *(f"detector-{it.name}" for it in table.detectors)]


def test_signs_of_markup_are_text(small: Catalog) -> None:
    text = page(small)
    assert "a &lt; b &amp; <code><a" in text and "&lt;/think&gt;" in text and "</think>" not in text
    assert Read(text).links.count("#page_was_lost") == 2


def test_a_part_of_the_table_is_a_page_too(small: Catalog) -> None:
    assert "<h2>Incidents" not in page(Catalog((), small.names, ()))


def test_the_markdown_has_every_entry_and_escapes_its_bars(small: Catalog) -> None:
    text = markdown(small)
    assert "### page_lost\n\nA page is lost" in text
    assert "- cleared by: index_k=fp8 and graph=false\n- named by: page_was_lost" in text
    assert "| `page_was_lost` | violation | A page is nowhere. | engine.x | page_lost |" in text
    assert r"| `leaked_markup` | corrupt | `</think>` \| in the text. |" in text
    assert text.endswith("\n") and not text.endswith("\n\n")
