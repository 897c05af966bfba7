"""Responses of HTTP/1.1, read from bytes cut anywhere: a head, then a body in one of three forms.

RFC 9112. Pure functions and counters, no input or output. One rule: what is not HTTP raises
``httpx.RemoteProtocolError``, and a body is over when its form says so, never before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import httpx

MOST_HEAD = 65_536  # bytes of a head, or of the line that begins a chunk
INCOMPLETE = "peer closed connection without sending complete message body"
HEX = frozenset(b"0123456789abcdefABCDEF")


@dataclass(frozen=True)
class Head:
    """A response's status line and headers."""

    status: int
    headers: list[tuple[bytes, bytes]]
    keeps: bool  # whether the connection may serve another request

    def values(self, name: bytes) -> list[bytes]:
        """All values of one header, in lower case."""
        return [value.lower() for key, value in self.headers if key.lower() == name]


class Body(Protocol):
    """What turns a connection's bytes into a body."""

    over: bool

    def feed(self, data: bytes) -> bytes:
        """The part of the body that ``data`` brings; what follows its end is in ``rest``."""

    def close(self) -> None:
        """The connection has ended; raises where the body has not."""

    @property
    def rest(self) -> bytes:
        """Bytes after the body's end."""


def take_head(buffer: bytes) -> tuple[Head, bytes] | None:
    """The first final head (1xx are skipped) and what follows it; None while it is not whole."""
    while True:
        raw, end, rest = buffer.partition(b"\r\n\r\n")
        if not end:
            if len(buffer) > MOST_HEAD:
                raise httpx.RemoteProtocolError(f"a head of more than {MOST_HEAD} bytes")
            if not b"HTTP/"[: len(buffer)] == buffer[:5]:
                raise httpx.RemoteProtocolError(f"not HTTP: {buffer[:40]!r}")
            return None
        head = _head(raw)
        if head.status >= 200:
            return head, rest
        buffer = rest


def body_of(head: Head, method: str) -> Body:
    """How this response's body is read."""
    if method == "HEAD" or head.status in (204, 304):
        return Sized(0)
    if head.values(b"transfer-encoding")[-1:] == [b"chunked"]:
        return Chunked()
    lengths = head.values(b"content-length")
    if not lengths:
        return UntilClose()
    if len({*lengths}) > 1 or not lengths[0].isdigit():
        raise httpx.RemoteProtocolError(f"a content-length of {lengths!r}")
    return Sized(int(lengths[0]))


def _head(raw: bytes) -> Head:
    first, *lines = raw.split(b"\r\n")
    version, _, said = first.partition(b" ")
    status = said[:3]
    if version not in (b"HTTP/1.1", b"HTTP/1.0") or not status.isdigit() or len(status) < 3:
        raise httpx.RemoteProtocolError(f"not an answer of HTTP/1.1: {first[:40]!r}")
    headers: list[tuple[bytes, bytes]] = []
    for line in lines:
        name, colon, value = line.partition(b":")
        if not colon or not name or name != name.strip():
            raise httpx.RemoteProtocolError(f"not a header: {line[:40]!r}")
        headers.append((name, value.strip(b" \t")))
    head = Head(int(status), headers, keeps=True)
    wishes = b",".join(head.values(b"connection"))
    keeps = b"close" not in wishes if version == b"HTTP/1.1" else b"keep-alive" in wishes
    return Head(head.status, headers, keeps)


class Sized:
    """A body of as many bytes as the head says."""

    def __init__(self, length: int) -> None:
        self._left, self.rest = length, b""
        self.over = not length

    def feed(self, data: bytes) -> bytes:
        """See ``Body``."""
        taken, self.rest = data[: self._left], data[self._left :]
        self._left -= len(taken)
        self.over = not self._left
        return taken

    def close(self) -> None:
        """See ``Body``."""
        if self._left:
            raise httpx.RemoteProtocolError(f"{INCOMPLETE} ({self._left} bytes are missing)")


class UntilClose:
    """A body that ends with its connection."""

    def __init__(self) -> None:
        self.over, self.rest = False, b""

    def feed(self, data: bytes) -> bytes:
        """See ``Body``."""
        return data

    def close(self) -> None:
        """See ``Body``."""
        self.over = True


class Chunked:
    """A body in chunks, each after its size; trailers are read and thrown away."""

    def __init__(self) -> None:
        self.over, self.rest = False, b""
        self._left = 0  # of the open chunk, with the line end after it
        self._line = b""  # the beginning of a line that is not whole
        self._last = False  # whether the empty chunk has come: trailers follow

    def feed(self, data: bytes) -> bytes:
        """See ``Body``."""
        data, at = self._line + data, 0
        parts: list[bytes] = []
        self._line = b""
        while at < len(data):
            if self._left:
                at = self._take(data, at, parts)
                continue
            end = data.find(b"\r\n", at)
            if end < 0:
                self._keep(data[at:])
                break
            line, at = data[at:end], end + 2
            if self._last and not line:
                self.over, self.rest = True, data[at:]
                break
            if not self._last:
                size = _size(line)
                self._left, self._last = size and size + 2, not size
        return b"".join(parts)

    def close(self) -> None:
        """See ``Body``."""
        raise httpx.RemoteProtocolError(f"{INCOMPLETE} (incomplete chunked read)")

    def _take(self, data: bytes, at: int, parts: list[bytes]) -> int:
        """Read on in the open chunk, of which the last two bytes are a line end; where it stops."""
        stop = min(len(data), at + self._left)
        left = self._left - (stop - at)
        if self._left > 2:
            parts.append(data[at : stop - max(0, 2 - left)])
        if not left and data[max(at, stop - 2) : stop] not in (b"\r\n", b"\n"):
            raise httpx.RemoteProtocolError(f"a chunk that does not end: {data[at:stop][-20:]!r}")
        self._left = left
        return stop

    def _keep(self, line: bytes) -> None:
        if len(line) > MOST_HEAD:
            raise httpx.RemoteProtocolError("a chunk's size that does not end")
        self._line = line


def _size(line: bytes) -> int:
    number = line.partition(b";")[0].strip()
    if not number or len(number) > 16 or not HEX.issuperset(number):
        raise httpx.RemoteProtocolError(f"not a chunk's size: {line[:20]!r}")
    return int(number, 16)
