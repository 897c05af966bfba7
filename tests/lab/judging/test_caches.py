"""That an arm asks what an earlier one asked of the same server is said, unless it was flushed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.caches import asked_before
from lab.exposure import FLUSHED, FOREIGN
from tests.lab.judging.test_verdicts import arm

if TYPE_CHECKING:
    from lab.records import ArmHistory


def served(name: str, words: str, boot: int = 0, **flush: Any) -> ArmHistory:
    """An arm of a server that was asked about ``words``."""
    history = arm(name=name)
    history.events += [
        (0, FOREIGN, {"url": "http://here", "boot": boot, "model": "m"}),
        (0, "session_planned", {"session": 0, "group": 0, "words": words}),
        *([(0, FLUSHED, flush)] if flush else []),
    ]
    return history


def test_the_last_arm_that_asked_the_same_of_the_same_boot_is_named() -> None:
    arms = [served("a", "X"), served("b", "X"), served("c", "X"), served("d", "Y")]
    assert [asked_before(it, arms) for it in arms] == [
        "",
        "asked before by 'a', caches not emptied",
        "asked before by 'b', caches not emptied",
        "",
    ]


def test_a_flush_or_another_boot_forgets() -> None:
    first = served("a", "X")
    rebooted, flushed = served("b", "X", boot=2), served("b", "X", done=True)
    assert [asked_before(it, [first, it]) for it in (rebooted, flushed)] == ["", ""]
    failed = served("b", "X", done=False)
    assert asked_before(failed, [first, failed]) == "asked before by 'a', caches not emptied"


def test_our_own_engine_is_a_new_one_for_every_arm() -> None:
    arms = [arm(name="a"), arm(name="b")]
    assert asked_before(arms[1], arms) == ""
