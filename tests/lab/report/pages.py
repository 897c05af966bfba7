"""Pages of made-up runs, and a page taken apart. One rule: a tag that is not closed fails here."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from lab.report.figures import save_figures
from lab.report.html.run import Told, run_page
from lab.report.written import vectors
from tests.lab.report.test_views import STORED
from tests.lab.samples import findings, history, run_verdict, sample_run

if TYPE_CHECKING:
    from pathlib import Path

BUILD = "padded_scatter_stale_slots"
VOID = {"meta", "link", "wbr"}
LOADING = {"src", "srcset", "data", "poster", "action"}


def corrupt_run(folder: Path | None = None) -> Told:
    """Three arms, the first one corrupt; its figures are drawn into ``folder``."""
    verdict, arms = sample_run()
    its = {arm.name: findings(arm) for arm in arms}
    drawn = vectors(save_figures(verdict, arms, its, folder)) if folder else {}
    yaml = f"build: [{BUILD}]\nworkload: {{kind: twins, preset: small, sessions: 60}}\n"
    return Told(verdict, replace(STORED, yaml=yaml), arms, its, drawn)


def clean_run(name: str = "an arm", sessions: int = 60) -> Told:
    """One clean arm, of which nothing is drawn."""
    arms = [history(name, sessions=sessions)]
    return Told(run_verdict("r", arms, {name: 0}), STORED, arms, {})


class Read(HTMLParser):
    """The tags of a page, each closed in its order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.tags: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        self.loads += [f"{tag} {key}" for key in given if key in LOADING]
        self.loads += [tag] if tag in ("script", "img", "iframe", "object", "image") else []
        self.ids += [given["id"] or ""] if "id" in given else []
        self.links += [given["href"] or ""] if tag == "a" else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def read(told: Told) -> Read:
    """A run's page, taken apart."""
    return Read(run_page(told))
