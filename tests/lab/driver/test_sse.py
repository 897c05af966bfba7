"""Server-sent events: read the same however they are cut, and refused where they are none."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.driver.sse import BrokenStream, SseReader

JSON = st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner, max_size=3))
EVENTS = st.lists(st.dictionaries(st.text(), JSON, max_size=3), max_size=5)


@given(events=EVENTS, cuts=st.lists(st.integers(0, 400)), end=st.sampled_from(["\n", "\r\n"]))
def test_cuts_change_nothing(events: list[dict[str, object]], cuts: list[int], end: str) -> None:
    text = "".join(f": ping{end}data: {json.dumps(event)}{end}{end}" for event in events)
    text += f"data: [DONE]{end}{end}"
    places = sorted({0, *(min(cut, len(text)) for cut in cuts), len(text)})
    reader = SseReader()
    pieces = [text[a:b] for a, b in itertools.pairwise(places)]
    assert [event for piece in pieces for event in reader.feed(piece)] == events
    reader.finish()
    assert "".join(reader.chunks) == text


def test_an_event_may_span_lines_and_name_itself() -> None:
    reader = SseReader()
    assert list(reader.feed('event: x\nid: 1\ndata: {"a":\ndata: 1}\n\n')) == [{"a": 1}]


@pytest.mark.parametrize("text", ["hello\n", "data: {\n\n", "data: 3\n\n", "<html>\n"])
def test_what_is_no_event_is_refused(text: str) -> None:
    with pytest.raises(BrokenStream):
        list(SseReader().feed(text))


@pytest.mark.parametrize("text", ["", "data: {}\n\n", 'data: {"a"', 'data: {"a": 1}\n'])
def test_a_stream_that_does_not_end_is_refused(text: str) -> None:
    reader = SseReader()
    list(reader.feed(text))
    with pytest.raises(BrokenStream):
        reader.finish()
