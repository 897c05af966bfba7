"""A server's key is in nothing that is kept, whole, escaped or cut short."""

from __future__ import annotations

import json

import pytest

from lab.driver.client import Outcome
from lab.driver.received import Received
from lab.driver.recorder import MOST_KEPT, kept
from lab.driver.secret import Secret
from lab.driver.sse import BrokenStream, SseReader

KEY = 'sk/live"4711-very-long-and-secret'
HELD = Secret("A_KEY", KEY)


@pytest.mark.parametrize("before", [0, 20, 45])
def test_a_message_that_was_cut_inside_the_key_has_no_beginning_of_it(before: int) -> None:
    with pytest.raises(BrokenStream) as broken:
        list(SseReader().feed(f"{'.' * before}{KEY} is wrong\n"))

    told = HELD.scrub_cut(str(broken.value))

    assert KEY[:8] not in told
    assert "$A_KEY" in told


def test_the_key_is_known_as_json_escapes_it() -> None:
    escaped = json.dumps({"key": KEY})

    for text in (escaped, escaped.replace("/", r"\/")):
        assert "4711" not in HELD.scrub(text)


def test_a_failed_reply_is_cut_after_the_key_was_taken_out() -> None:
    text = "." * (MOST_KEPT - 12) + KEY
    outcome = Outcome(Received(), 0.0, status="transport_error", chunks=[text[:-5], text[-5:]])

    assert "".join(kept(outcome, HELD)).endswith(".$A_KEY")


def test_chunks_without_the_key_stay_as_they_came() -> None:
    assert HELD.scrub_chunks(["sk/", "live"]) == ("sk/", "live")
