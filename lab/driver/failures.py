"""Why no whole reply came, a word for each way. One rule: a failure's text begins with its word,
so that failures of one kind stand together wherever they are counted.

``HTTP 503``      the server said so: any status but 200
``refused``       nobody listens there
``unreachable``   no connection: no such host, no route, no TLS, none in time
``reset``         the connection was torn down
``disconnected``  the server closed it before the reply was whole
``nothing``       HTTP 200, and an empty body
``half a reply``  the body ended in good order, and too early
``malformed``     what came is no HTTP, no events, no JSON or no reply
``no answer``     a client's whole patience went by, and nothing had come
``no end``        it went by, and a part had come
``stalled``       a part came, and then none for as long as a client waits between two
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

REFUSED, UNREACHABLE, RESET = "refused", "unreachable", "reset"
DISCONNECTED, NOTHING, HALF = "disconnected", "nothing", "half a reply"
MALFORMED, NO_ANSWER, NO_END, STALLED = "malformed", "no answer", "no end", "stalled"
LONGEST_PAUSE_S = 60.0  # of those that a server may ask for


def broken(error: httpx.HTTPError, parts: int) -> str:
    """The failure that httpx tells, after so many ``parts`` of a body: in one line."""
    reason = " ".join(str(error).split())
    said = f"{type(error).__name__}{reason and ': '}{reason}"
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return f"{REFUSED if _refused(error) else UNREACHABLE}: {said}"
    return f"{_word(error)}: {said}, {_progress(parts)}"


def retry_after_s(headers: Mapping[str, str]) -> float:
    """Seconds that the server asks a client to wait, at most a minute; 0 where it does not."""
    asked = headers.get("retry-after", "").strip()
    return min(float(asked), LONGEST_PAUSE_S) if asked.isdecimal() else 0.0


def overdue(after_s: float, parts: int, last_s: float | None) -> str:
    """The failure of a client that gave up ``after_s``; ``last_s`` is how long ago a part came."""
    if not parts or last_s is None:
        return f"{NO_ANSWER} after {after_s:g} s"
    return f"{NO_END} after {after_s:g} s: {_progress(parts)}, {last_s:.3f} s before"


def stalled(silent_s: float, parts: int) -> str:
    """The failure of a client that waits no longer than that for the next part."""
    return f"{STALLED}: no part for {silent_s:g} s, {_progress(parts)}"


def _word(error: httpx.HTTPError) -> str:
    """Servers that close a connection do so in order, or tear it down; the rest is not HTTP."""
    if isinstance(error, httpx.NetworkError):
        return RESET
    if isinstance(error, httpx.RemoteProtocolError):
        closed = ("disconnected", "closed connection")
        return DISCONNECTED if any(word in str(error) for word in closed) else MALFORMED
    return UNREACHABLE if isinstance(error, httpx.TimeoutException) else MALFORMED


def _progress(parts: int) -> str:
    return f"after {parts} parts" if parts else "before any part"


def _refused(error: httpx.HTTPError) -> bool:
    """Whether every address refused: asyncio tells of several of them in its text alone."""
    if f"Errno {errno.ECONNREFUSED}" in str(error):
        return True
    return any(isinstance(it, ConnectionRefusedError) for it in _causes(error))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and all that it came from, those that came together included."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for one in error.exceptions:
                yield from _causes(one)
        error = error.__cause__ or error.__context__
