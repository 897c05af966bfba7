"""What a step is about to read of a prefix is still there, and was written."""

from __future__ import annotations

import pytest

from engine.events import EventLog
from engine.request import Request
from engine.shadow.pages import PageWatch

PAGES = 8


class Books:
    """Who holds which page; ``hand_out`` makes the page somebody's anew."""

    def __init__(self) -> None:
        self.generations = [0] * (PAGES + 1)
        self.owners: dict[int, str] = {}

    def hand_out(self, page: int, owner: str) -> None:
        self.generations[page] += 1
        self.owners[page] = owner

    def owner_of(self, page: int) -> str | None:
        return self.owners.get(page)

    def generation_of(self, page: int) -> int:
        return self.generations[page]


class Watched:
    """A watch over made-up books."""

    def __init__(self) -> None:
        self.books, self.events = Books(), EventLog(lambda: 0)
        self.watch = PageWatch(PAGES, self.events, self.books)

    def request(self, *pages: int) -> Request:
        """A request that is given these pages now."""
        req = Request(7, [1] * (256 * len(pages)), 9)
        for page in pages:
            self.books.hand_out(page, "request 7")
        return self.shares(req, *pages)

    def shares(self, req: Request, *pages: int) -> Request:
        """The request is given the pages as they are."""
        req.pages, req.takes = list(pages), [self.books.generation_of(page) for page in pages]
        return req

    @property
    def seen(self) -> list[tuple[str, dict[str, int | str]]]:
        fields = [dict(event.fields) for event in self.events.events]
        return [(str(each.pop("name")), each) for each in fields]

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.seen]


@pytest.fixture
def it() -> Watched:
    return Watched()


def test_a_prefix_that_a_step_wrote_may_be_read(it: Watched) -> None:
    req = it.request(3, 5)
    it.watch.wrote(req, 0, 512)
    it.watch.reads(req, 512)
    assert it.seen == []


def test_chunks_fill_a_page_list_piece_by_piece(it: Watched) -> None:
    req = it.request(3, 5, 2)
    it.watch.wrote(req, 0, 256)
    it.watch.wrote(req, 256, 600)
    it.watch.reads(req, 512)
    assert it.seen == []


def test_decode_fills_a_page_row_by_row(it: Watched) -> None:
    req = it.request(3)
    it.watch.wrote(req, 0, 200)
    for position in range(200, 256):
        it.watch.wrote_row(req, position)
    it.watch.reads(req, 256)
    assert it.seen == []


def test_a_page_whose_last_row_is_missing_is_unwritten(it: Watched) -> None:
    req = it.request(3, 5)
    it.watch.wrote(req, 0, 511)
    it.watch.reads(req, 512)
    assert it.seen == [
        ("read_of_unwritten_row", {"n": 1, "request": 7, "page": 5, "owner": "request 7"})
    ]


def test_every_unwritten_page_is_counted_and_the_first_is_named(it: Watched) -> None:
    it.watch.reads(it.request(3, 5, 2), 768)
    [(name, fields)] = it.seen
    assert (name, fields["n"], fields["page"]) == ("read_of_unwritten_row", 3, 3)


def test_pages_behind_the_prefix_are_not_read(it: Watched) -> None:
    req = it.request(3, 5)
    it.watch.wrote(req, 0, 256)
    it.watch.reads(req, 256)
    it.watch.reads(req, 0)
    assert it.seen == []


def test_what_comes_from_the_host_counts_as_written(it: Watched) -> None:
    req = it.request(3, 5)
    it.watch.restored([3, 5])
    it.watch.reads(req, 512)
    assert it.seen == []


def test_what_an_earlier_owner_wrote_says_nothing_of_the_page_now(it: Watched) -> None:
    it.watch.wrote(it.request(3), 0, 256)
    it.watch.reads(it.request(3), 256)
    assert it.names == ["read_of_unwritten_row"]


def test_a_page_left_to_the_cache_stays_written(it: Watched) -> None:
    it.watch.wrote(it.request(3), 0, 256)
    it.books.owners[3] = "cache"
    it.watch.reads(it.shares(Request(8, [1] * 300, 9), 3), 256)
    assert it.seen == []


def test_a_page_handed_out_anew_since_the_match_was_changed(it: Watched) -> None:
    req = it.request(3)
    it.watch.wrote(req, 0, 256)
    it.books.hand_out(3, "request 9")
    it.watch.restored([3])  # whatever the other one wrote
    it.watch.reads(req, 256)
    assert it.seen == [
        (
            "page_changed_between_match_and_read",
            {"n": 1, "request": 7, "page": 3, "owner": "request 9"},
        )
    ]


def test_a_page_that_is_free_was_changed(it: Watched) -> None:
    req = it.request(3)
    it.watch.wrote(req, 0, 256)
    del it.books.owners[3]
    it.watch.reads(req, 256)
    [(name, fields)] = it.seen
    assert (name, fields["owner"]) == ("page_changed_between_match_and_read", "nobody")


def test_what_a_transfer_brought_may_be_read(it: Watched) -> None:
    req = it.request(3, 5)
    it.watch.landed(3, 256)
    it.watch.landed(5, 200)
    it.watch.reads(req, 256)
    assert it.seen == []
    it.watch.reads(req, 512)
    assert it.names == ["read_of_unwritten_row"]


def test_rows_written_are_those_of_the_page_s_owner_now(it: Watched) -> None:
    it.watch.wrote(it.request(3), 0, 200)
    assert it.watch.rows_written(3) == 200
    it.books.owners[3] = "cache"
    assert it.watch.rows_written(3) == 200
    it.request(3)
    assert it.watch.rows_written(3) == 0
