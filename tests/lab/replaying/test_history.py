"""Histories are compared event by event, and remarks never are."""

from __future__ import annotations

import ast
import importlib

from engine.events import REMARKS, Event, EventLog
from lab.replaying.course import Course
from lab.replaying.history import digest_of, first_difference
from tests.structure.sources import SOURCES

REMARK = (5, "span", {"track": "compute"})
ONE, TWO, OTHER = (1, "arrive", {"request": 1}), (2, "end", {"n": 3}), (2, "end", {"n": 4})


def test_equal_histories_do_not_differ_whatever_was_remarked() -> None:
    assert first_difference([ONE, REMARK, TWO], [REMARK, ONE, TWO]) is None


def test_the_first_event_that_differs_is_named_with_its_numbers() -> None:
    found = first_difference([ONE, TWO], [REMARK, ONE, OTHER])
    assert found is not None
    assert found.document() == {
        "was": {"event": 1, "at_s": 2e-9, "kind": "end", "fields": {"n": 3}},
        "here": {"event": 2, "at_s": 2e-9, "kind": "end", "fields": {"n": 4}},
    }


def test_a_history_that_ends_early_differs_there() -> None:
    found = first_difference([ONE, TWO], [ONE])
    assert found is not None and found.here is None and found.was is not None
    assert found.was.number == 1


def test_a_digest_comes_out_of_the_events_alone() -> None:
    at = iter([1, 2, 3])
    log = EventLog(lambda: next(at))
    log.emit("arrive", request=1)
    log.remark("span", track="compute")
    log.violation("read_before_load", page=4)
    assert digest_of([tuple(event) for event in log.events]) == log.digest()


def run(course: Course, *events: tuple[int, str, dict[str, int]]) -> int:
    """How many events were heard before the arm ended."""
    for heard, event in enumerate(events, start=1):
        if course(Event(*event)):
            return heard
    return len(events)


def test_a_course_ends_at_its_event() -> None:
    course = Course([ONE, REMARK, TWO, ONE], until=2)
    assert run(course, ONE, TWO, ONE) == 2
    assert course.difference is None


def test_a_course_ends_at_the_first_event_that_is_another() -> None:
    course = Course([ONE, REMARK, TWO, ONE], until=3)
    assert run(course, ONE, OTHER, ONE) == 2
    assert course.difference is not None
    assert course.difference.document()["here"]["fields"] == {"n": 4}
    assert course.difference.document()["was"]["event"] == 2


def test_a_run_that_is_over_before_its_course_went_another_way() -> None:
    course = Course([ONE, TWO], until=1)
    run(course, ONE)
    assert course.difference is not None and course.difference.here is None


def test_every_kind_of_remark_is_known_as_one() -> None:
    named = [
        (source.path, node.args[0])
        for source in SOURCES
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "remark"
        if node.args
    ]
    kinds = {word(path, it) for path, it in named if source_of(path) != "engine.events"}
    assert kinds == REMARKS


def word(path: str, node: ast.expr) -> str:
    """What a remark's kind is, said there or by a name of the module."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    assert isinstance(node, ast.Name), path
    return str(getattr(importlib.import_module(source_of(path)), node.id))


def source_of(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")
