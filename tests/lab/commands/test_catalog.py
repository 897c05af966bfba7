"""`kvlab catalog`: all of the table, or what one name has to do with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import lab.catalog
from lab.catalog.incidents import Incident
from lab.catalog.lines import shortly
from tests.lab.catalog.made_up import TABLE


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of few entries, made in no time."""
    monkeypatch.setattr(lab.catalog, "whole", lambda tick: TABLE)


def test_the_list_has_mechanism_trigger_evidence_and_origin(kvlab) -> None:
    said = kvlab("catalog")
    assert said.code == 0 and said.err == ""
    for text in ("page_lost  some/repo#12", "A page is lost", "trigger     a full pool"):
        assert text in said.out
    for text in ("named by    page_was_lost", "A page is nowhere.", "leaked_markup"):
        assert text in said.out


def test_a_related_issue_is_not_shown_as_the_origin() -> None:
    issue = "some/repo#9"
    it = Incident(
        "it", "corrupting", "", "", origin=issue, reported=f"seen here; alike is {issue}."
    )
    assert shortly(it) == it.reported
    assert shortly(replace(it, reported=f"{issue}: seen once.")) == issue
    assert shortly(replace(it, origin="seed investigation")) == "seed investigation"


def test_an_incident_is_shown_in_full_with_its_evidence(kvlab) -> None:
    said = kvlab("catalog", "page_lost")
    assert "engine.pools.allocator.Once" in said.out and "A page is nowhere." in said.out
    assert "no_page_lost" not in said.out and "leaked_markup" not in said.out


def test_a_violation_is_shown_with_the_incidents_that_it_names(kvlab) -> None:
    said = kvlab("catalog", "page_was_lost", "--json").json
    assert [it["name"] for it in said["incidents"]] == ["page_lost"]
    assert [it["name"] for it in said["names"]] == ["page_was_lost"]
    assert said["detectors"] == []


def test_json_is_one_document_of_all(kvlab) -> None:
    said = kvlab("catalog", "--json")
    assert said.err == "" and len(said.json["incidents"]) == 2
    cleared = {"arm": "fp8", "against": "bf16, graph on"}
    cleared["settings"] = {"index_k": "fp8", "graph": False}
    assert said.json["incidents"][0]["cleared_by"] == [cleared]
    assert said.json["detectors"][0]["finds"] == "`</think>` | in the text."


def test_an_unknown_name_is_one_line_that_says_what_is_near(kvlab) -> None:
    said = kvlab("catalog", "page_was_lots")
    assert said.code == 2 and said.out == "" and said.err.count("\n") == 1
    assert "(did you mean 'page_was_lost'?)" in said.err
    assert "`kvlab catalog` lists them" in kvlab("catalog", "zzz").err


def test_out_writes_a_page_and_markdown_instead(tmp_path: Path, kvlab) -> None:
    said = kvlab("catalog", "--out", str(tmp_path / "made"))
    assert said.code == 0 and said.out == "" and "catalog.html and catalog.md are in" in said.err
    assert (tmp_path / "made" / "catalog.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "made" / "catalog.md").read_text().startswith("# Incidents")
    assert kvlab("catalog", "--out", str(tmp_path), "--json").json["names"]


def test_a_folder_that_cannot_be_is_one_line(tmp_path: Path, kvlab) -> None:
    (tmp_path / "file").write_text("")
    said = kvlab("catalog", "--out", str(tmp_path / "file"))
    assert said.code == 2 and said.err.count("\n") == 1 and "--out" in said.err
