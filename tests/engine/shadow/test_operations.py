"""The log of operations: numbers, streams and epochs, and how an operation is said."""

from __future__ import annotations

import pytest

from engine.shadow.operations import NONE, ROOM, Operation, OperationLog

STEP = Operation("decode", "decode step 31", 1, 4, 12, step=31, lanes=(7, 8))
COPY = Operation("load", "load 4", 2, 1, 20)


def log(*operations: Operation) -> OperationLog:
    made = OperationLog()
    for each in operations:
        made.add(each)
    return made


def test_operations_are_numbered_from_one_and_nobody_s_is_the_first() -> None:
    made = log()
    assert (made.add(STEP), made.add(COPY), len(made)) == (1, 2, 3)
    assert [made[number] for number in range(3)] == [NONE, STEP, COPY]


def test_streams_and_epochs_are_those_of_the_operations_however_many_there_are() -> None:
    made = log(*(STEP._replace(stream=n % 5, epoch=n) for n in range(1, 2 * ROOM)))
    every = [made[number] for number in range(len(made))]
    assert made.streams[: len(made)].tolist() == [each.stream for each in every]
    assert made.epochs[: len(made)].tolist() == [each.epoch for each in every]


def test_a_copy_that_moved_later_keeps_its_number_and_its_epoch() -> None:
    made = log(COPY)
    made.moved(1, 55)
    assert made[1] == COPY._replace(at_us=55)
    assert made.epochs[1] == COPY.epoch


@pytest.mark.parametrize(
    ("number", "lane", "said", "request_id"),
    [
        (0, -1, "nobody", 0),
        (1, -1, "decode step 31", 0),
        (1, 1, "decode step 31 row 1 of request 8", 8),
        (1, 2, "padding lane 2 of decode step 31", 0),
        (2, 1, "load 4", 0),
        (3, -1, "prefill step 32", 9),
    ],
    ids=["nobody", "no lane", "a row", "padding", "a copy has no lanes", "a chunk's only request"],
)
def test_an_operation_is_said_down_to_the_lane_that_is_known(
    number: int, lane: int, said: str, request_id: int
) -> None:
    chunk = Operation("prefill", "prefill step 32", 1, 5, 30, step=32, lanes=(9,))
    made = log(STEP, COPY, chunk)
    assert made.said(number, lane) == said
    assert made.request_of(number, lane) == request_id
