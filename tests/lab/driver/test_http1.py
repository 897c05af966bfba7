"""Responses of HTTP/1.1: heads and bodies cut anywhere, and what is none."""

from __future__ import annotations

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.driver.http1 import Body, Chunked, Sized, UntilClose, body_of, take_head

OK = b"HTTP/1.1 200 OK\r\n"


def body(headers: bytes, method: str = "POST", first: bytes = OK) -> Body:
    taken = take_head(first + headers + b"\r\n")
    assert taken is not None
    return body_of(taken[0], method)


def chunked(*parts: bytes, trailer: bytes = b"") -> bytes:
    sized = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
    return sized + b"0\r\n" + trailer + b"\r\n"


@given(
    st.lists(st.binary(min_size=1, max_size=40), max_size=5),
    st.lists(st.integers(0, 300), max_size=12),
)
def test_chunks_are_the_body_wherever_they_are_cut(parts: list[bytes], cuts: list[int]) -> None:
    data = chunked(*parts, trailer=b"x-a: b\r\n") + b"next"
    reader, read, places = Chunked(), b"", sorted({cut for cut in cuts if cut < len(data) - 4})
    for begin, end in zip([0, *places], [*places, len(data)], strict=True):
        assert not reader.over
        read += reader.feed(data[begin:end])
    assert (read, reader.over, reader.rest) == (b"".join(parts), True, b"next")


@given(st.integers(1, 60))
def test_a_head_is_whole_wherever_it_is_cut(cut: int) -> None:
    data = b"HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n" + OK + b"a: 1\r\nA:  2 \r\n\r\nrest"
    assert take_head(data[:cut]) is None
    taken = take_head(data)
    assert taken is not None
    assert (taken[0].status, taken[0].values(b"a"), taken[1]) == (200, [b"1", b"2"], b"rest")


@pytest.mark.parametrize(
    "data",
    [
        b"<html>hello</html>",
        b"SSH-2.0-x\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 2x0 no\r\n\r\n",
        b"HTTP/1.1 20\r\n\r\n",
        OK + b"no colon\r\n\r\n",
        OK + b" folded: 1\r\n\r\n",
        OK + b"a: " + b"x" * 70_000,
    ],
)
def test_what_is_no_head_is_told(data: bytes) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        take_head(data)


@pytest.mark.parametrize(
    "data", [b"\r\n", b"z\r\n", b"-1\r\n", b"0x1\r\n", b"2\r\nabc\r\n", b"f" * 70_000]
)
def test_what_are_no_chunks_is_told(data: bytes) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        Chunked().feed(data)


def test_the_head_says_how_the_body_is_read() -> None:
    assert isinstance(body(b"content-length: 3\r\n"), Sized)
    assert isinstance(body(b"transfer-encoding: chunked\r\ncontent-length: 3\r\n"), Chunked)
    assert isinstance(body(b"a: b\r\n"), UntilClose)
    assert body(b"content-length: 3\r\n", "HEAD").over
    assert body(b"", first=b"HTTP/1.1 204 No Content\r\n").over


@pytest.mark.parametrize("length", [b"-1", b"3x", b"", b"3\r\ncontent-length: 4"])
def test_a_length_that_is_none_is_told(length: bytes) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        body(b"content-length: " + length + b"\r\n")


@pytest.mark.parametrize(
    ("first", "headers", "keeps"),
    [
        (OK, b"", True),
        (OK, b"connection: Close\r\n", False),
        (b"HTTP/1.0 200 OK\r\n", b"", False),
        (b"HTTP/1.0 200 OK\r\n", b"connection: keep-alive\r\n", True),
    ],
)
def test_a_head_says_whether_its_connection_is_kept(
    first: bytes, headers: bytes, keeps: bool
) -> None:
    taken = take_head(first + headers + b"\r\n")
    assert taken is not None
    assert taken[0].keeps is keeps


def test_a_body_that_its_connection_s_end_cuts_is_told() -> None:
    sized, until = body(b"content-length: 3\r\n"), UntilClose()
    assert (sized.feed(b"ab"), until.feed(b"ab")) == (b"ab", b"ab")
    until.close()
    assert until.over
    for cut in (sized, Chunked()):
        with pytest.raises(httpx.RemoteProtocolError, match="peer closed connection"):
            cut.close()
