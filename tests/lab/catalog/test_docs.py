"""Docstrings taken apart: fields of defects, lists of those who watch."""

from __future__ import annotations

from lab.catalog.docs import first, items, told

DEFECT = """A page is freed twice.

Origin   some/repo#12: seen under load,
         and again a year later.
Trigger  a full pool.
Fix      engine.pools.allocator.Once.
"""
WATCH = """Who freed what. One rule: it counts.

- ``page_freed_twice``: a page was given back, and
  was free already; seen when it is given back;
- ``pages_leaked`` (exposure): pages that nobody gave back;
- ``page_of_nobody``: nobody's page was read.

A note that is no item.
"""


def test_a_defect_has_a_mechanism_and_fields_of_one_line_each() -> None:
    found = told(DEFECT)
    assert found.mechanism == "A page is freed twice."
    assert found.fields == {
        "Origin": "some/repo#12: seen under load, and again a year later.",
        "Trigger": "a full pool.",
        "Fix": "engine.pools.allocator.Once.",
    }


def test_a_docstring_without_fields_is_all_mechanism() -> None:
    assert told("One line.\n\nAnother with ``code``.").mechanism == "One line. Another with `code`."


def test_each_item_of_a_list_is_a_sentence_and_exposure_is_none() -> None:
    assert items(WATCH) == {
        "page_freed_twice": "A page was given back, and was free already; seen when it is given "
        "back.",
        "page_of_nobody": "Nobody's page was read.",
    }


def test_only_the_first_paragraph_says_what_something_is() -> None:
    assert first("It is\n    this.\n\n    And more.") == "It is this."
    assert first(None) == ""
