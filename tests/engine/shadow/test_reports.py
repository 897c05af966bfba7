"""How a finding is said: all that is known of page and writer, and nothing that means nothing."""

from __future__ import annotations

from engine.shadow.book import PageBook, Unordered
from engine.shadow.reports import Writer, report, unordered, written_by
from tests.engine.shadow.steps import Steps


def test_a_page_is_told_of_with_its_state_owner_and_last_release() -> None:
    steps = Steps()
    pages = steps.pages.allocate(2)
    steps.pages.free(pages[:1])
    report(steps.shadow, "read_after_free", pages[0], 3, pool="c4")
    report(steps.shadow, "read_foreign_row", pages[1])
    assert steps.seen == [
        {
            "name": "read_after_free",
            "n": 3,
            "page": pages[0],
            "state": "FREE",
            "generation": 1,
            "freed": "freed at 5 us by request 1",
            "owner": "nobody",
            "pool": "c4",
        },
        {
            "name": "read_foreign_row",
            "n": 1,
            "page": pages[1],
            "state": "ALLOCATED",
            "generation": 1,
            "freed": "",
            "owner": "request 1",
        },
    ]


def test_what_lies_on_no_page_has_neither_owner_nor_state() -> None:
    steps = Steps()
    report(steps.shadow, "read_foreign_row", -1, slot=7)
    assert steps.seen == [{"name": "read_foreign_row", "n": 1, "slot": 7}]


def test_padding_works_for_no_request() -> None:
    steps = Steps()
    op = steps.shadow.begin("decode", "decode step 4", steps.shadow.compute, 4, (12, 13))
    row, padding = (written_by(steps.shadow, Writer(op, lane)) for lane in (1, 2))
    assert (row["writer"], row["writer_kind"]) == ("decode step 4 row 1 of request 13", "decode")
    assert row["writer_request"] == 13
    assert padding["writer"] == "padding lane 2 of decode step 4"
    assert padding["writer_kind"] == "padding" and "writer_request" not in padding


def test_nobody_wrote_at_no_time() -> None:
    assert written_by(Steps().shadow, Writer(0)) == {"writer": "nobody", "writer_kind": "none"}


def test_accesses_that_nothing_orders_are_one_event_for_two_operations() -> None:
    steps = Steps()
    first, second = (
        steps.shadow.begin("backup", name, steps.shadow.stream(name)) for name in ("a", "b")
    )
    steps.pages.allocate(3)
    unordered(steps.shadow, [Unordered(page, first, second) for page in (3, 2, 3)])
    [found] = steps.seen
    assert (found["name"], found["n"], found["page"]) == ("unordered_access", 2, 3)
    assert found["edge"] == "b did not wait for a"
    assert written_by(steps.shadow, Writer(second))["edge"] == "b did not wait for a"


def test_an_edge_is_missing_at_the_page_where_it_was_found_missing_and_at_no_other() -> None:
    steps = Steps()
    step = steps.shadow.begin("decode", "decode step 4", steps.shadow.compute, 4, (12, 13))
    free = steps.shadow.begin("free", "the release by request 12", steps.shadow.host)
    pages = steps.pages.allocate(2)
    unordered(steps.shadow, [Unordered(pages[0], step, free)])
    for page in pages:
        report(steps.shadow, "read_foreign_row", page, writer=Writer(step, 0))
    assert [each.get("edge") for each in steps.seen[1:]] == [steps.seen[0]["edge"], None]


def test_a_copy_lacks_an_edge_of_its_other_end_at_all_of_its_pages() -> None:
    steps = Steps()
    shadow, pages = steps.shadow, steps.pages.allocate(2)
    load, backup = (shadow.begin(kind, kind, shadow.stream(kind)) for kind in ("load", "backup"))
    host = PageBook(4, shadow.log, shadow.clocks)
    unordered(shadow, [Unordered(pages[0], backup, load)], host)
    report(shadow, "read_foreign_row", pages[1], writer=Writer(load))
    report(shadow, "host_page_differs", pages[1], writer=Writer(load), book=host)
    assert [each.get("edge") for each in steps.seen[1:]] == ["load did not wait for backup", None]
