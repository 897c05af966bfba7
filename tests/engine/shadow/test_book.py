"""The book of pages: what became of each, and whether whoever touches it waited for the others."""

from __future__ import annotations

from engine.shadow.book import PageBook, Unordered
from engine.shadow.clocks import VectorClocks
from engine.shadow.operations import Operation, OperationLog


class Book:
    """Four pages, and operations on named streams."""

    def __init__(self) -> None:
        self.clocks, self.log = VectorClocks(), OperationLog()
        self.book = PageBook(4, self.log, self.clocks)

    def op(self, name: str) -> int:
        stream = self.clocks.stream(name)
        return self.log.add(Operation("none", name, stream, self.clocks.tick(stream), 0))

    def wait(self, name: str, other: str) -> None:
        self.clocks.wait(self.clocks.stream(name), self.clocks.stream(other))


def test_a_read_is_in_order_once_its_stream_waited_for_the_write() -> None:
    it = Book()
    write = it.op("load")
    assert it.book.writes(write, [2]) == []
    early = it.op("compute")
    assert it.book.reads(early, [1, 2]) == [Unordered(2, write, early)]
    it.wait("compute", "load")
    assert it.book.reads(it.op("compute"), [1, 2]) == []


def test_a_write_waits_for_reads_of_every_stream_and_reads_for_none() -> None:
    it = Book()
    copy, step = it.op("backup"), it.op("compute")
    assert it.book.reads(copy, [3]) == it.book.reads(step, [3]) == []
    free = it.op("host")
    assert it.book.writes(free, [3]) == [Unordered(3, copy, free), Unordered(3, step, free)]
    it.wait("host", "backup")
    it.wait("host", "compute")
    assert it.book.writes(it.op("host"), [3]) == []


def test_operations_of_one_stream_are_in_order() -> None:
    it = Book()
    it.book.writes(it.op("compute"), [1])
    assert it.book.writes(it.op("compute"), [1]) == []
    assert it.book.reads(it.op("compute"), [1]) == []


def test_an_edge_is_known_through_others() -> None:
    it = Book()
    it.book.writes(it.op("load"), [1])
    it.wait("host", "load")
    it.wait("compute", "host")
    assert it.book.reads(it.op("compute"), [1]) == []


def test_pages_that_change_hands_must_be_looked_at_again() -> None:
    it = Book()
    before = it.book.version.copy()
    it.book.taken([1, 2])
    it.book.freed([2], 7, "request 2")
    assert (it.book.version != before).tolist() == [False, True, True, False, False]
    assert it.book.version[2] > it.book.version[1]
    assert it.book.generation.tolist() == [0, 1, 1, 0, 0]
    assert (it.book.last_freed(1), it.book.last_freed(2)) == ("", "freed at 7 us by request 2")


def test_the_state_of_a_page_from_free_to_free() -> None:
    it = Book()
    assert it.book.state(1) == "FREE"
    it.book.taken([1])
    assert it.book.state(1) == "ALLOCATED"
    step = it.op("compute")
    it.book.writes(step, [1])
    assert (it.book.state(1, running=step), it.book.state(1)) == ("WRITING", "VALID")
    it.book.copies_out[1] = 1
    assert it.book.state(1) == "IN_FLIGHT_OUT"
    it.book.copies_in[1] = 1
    assert it.book.state(1) == "IN_FLIGHT_IN"
    it.book.withheld[1] = True
    assert it.book.state(1) == "QUARANTINE"
    it.book.freed([1], 0, "request 1")
    assert it.book.state(1) == "FREE"
    it.book.copies_in[1] = it.book.copies_out[1] = 0
    it.book.taken([1])
    assert it.book.state(1) == "ALLOCATED"
