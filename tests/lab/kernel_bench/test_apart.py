"""Tasks in processes of their own: one that ends its process, or hangs, fails alone."""

from __future__ import annotations

import multiprocessing
import os
import time
from threading import Timer

from lab.kernel_bench.apart import run_apart


def answering(task: str) -> tuple[str, bool]:
    """What each task's process does."""
    if task == "dies":
        os._exit(7)
    if task == "hangs":
        time.sleep(600)
    return ("it went wrong", True) if task == "breaks" else ("", False)


def test_one_that_ends_its_process_or_hangs_takes_nothing_with_it() -> None:
    todo = ["well", "dies", "breaks", "hangs", "too"]
    answers = dict(run_apart(answering, todo, jobs=1, patience_s=8.0))
    assert answers == {
        "well": "",
        "dies": "its process ended with code 7",
        "breaks": "it went wrong",
        "hangs": "no answer in 8 s",
        "too": "",
    }


def exits_afterwards(task: str) -> tuple[str, bool]:
    """Answers, then ends its process while it waits."""
    Timer(0.05, os._exit, (3,)).start()
    return "", False


def test_a_process_that_ended_while_it_was_idle_is_replaced() -> None:
    answers = run_apart(exits_afterwards, ["one", "two"], jobs=1, patience_s=60.0)
    first = next(answers)
    for child in multiprocessing.active_children():
        child.join(60)
    assert [first, *answers] == [("one", ""), ("two", "")]
