"""What tries failed of: few reasons, numbers that differ replaced."""

from __future__ import annotations

from dataclasses import replace

from lab.records import ArmHistory, Reply
from lab.report.endings import MOST, errors
from tests.lab.disaggregated import retry
from tests.lab.samples import history, reply


def failed(error: str | None, status: str = "transport_error") -> Reply:
    return replace(reply(0, 0, status=status), error=error)


def arm(*replies: Reply) -> ArmHistory:
    return replace(history("an arm"), replies=list(replies))


def test_errors_that_differ_in_numbers_alone_are_one_reason_and_the_frequent_come_first() -> None:
    replies = [failed("no end after 600.0 s", "timeout")]
    replies += [failed(f"room {n} failed after {n}.5 s") for n in (7, 12, 1_300)]
    assert errors(arm(*replies)) == {"room N failed after N s": 3, "no end after 600.0 s": 1}


def test_replies_that_came_or_were_never_sent_have_no_error_here() -> None:
    others = [reply(0, 0), failed("left after 1 s", "aborted"), failed("ended", "not_sent")]
    assert errors(arm(*others, failed(None))) == {}


def test_only_the_most_frequent_reasons_are_told() -> None:
    replies = [failed(letter) for letter in "abcdefghij"]
    assert list(errors(arm(*replies))) == list("abcdefghij")[:MOST]


def test_tries_that_were_asked_again_count_whatever_came_of_their_reply() -> None:
    served = arm(reply(0, 0), failed("room 9 failed after 2 s"))
    served.events += [retry(0, 4.0, f"room {n} failed after 4.0 s") for n in (3, 5)]
    assert errors(served) == {"room N failed after N s": 3}
