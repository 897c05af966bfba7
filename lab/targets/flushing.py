"""A server's caches are emptied before an arm, so that the arm before it on the boot does not warm
it. One rule: a server that will not, costs no arm; it is said of the arm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx

from engine import clock
from lab.driver import failures
from lab.profiles.models import Flush
from lab.targets.documents import PATIENCE_S, read_json

if TYPE_CHECKING:
    from lab.launching.servers import Server
    from lab.profiles import Profile

TRIES, PAUSE_S = 20, 0.5  # clients that left are still being forgotten by a server
BUSY = (200, 400, 409, 503)  # of one that may do it yet; any other says that it never will


async def flushed(
    http: httpx.AsyncClient, server: Server, profile: Profile | None
) -> dict[str, Any] | None:
    """What the remark of an arm says of it: ``where``, ``done``, and a ``warning`` where it was
    not. None where nobody said how the server forgets.
    """
    how = profile.flush if profile is not None else _of_a_url(server)
    if how is None:
        return None
    whys = [await _why_not(http, how, server.urls.get(node, "")) for node in how.nodes or ("",)]
    why = next(filter(None, whys), "")
    where = f"{how.method} {how.path}"
    warning = f"the server's caches were not flushed before: {where}: {why}" if why else ""
    return {"where": where, "done": not why, "warning": warning}


def _of_a_url(server: Server) -> Flush | None:
    return Flush(path=server.flush) if server.flush else None


async def _why_not(http: httpx.AsyncClient, how: Flush, url: str) -> str:
    """Why a node did not forget, in one line; empty where it did."""
    why = ""
    for _ in range(TRIES):
        try:
            answer = await http.request(how.method, url + how.path, timeout=PATIENCE_S)
        except httpx.TimeoutException as error:
            return failures.broken(error, 0)  # twenty of these would be minutes
        except httpx.HTTPError as error:
            why = failures.broken(error, 0)
        else:
            why = _refused(answer)
            if not why or answer.status_code not in BUSY:
                break
        await clock.sleep(PAUSE_S)
    return why


def _refused(answer: httpx.Response) -> str:
    """What a server says that did not forget; vLLM says so with 200."""
    if answer.status_code != httpx.codes.OK:
        return f"HTTP {answer.status_code}"
    document = read_json(answer)
    failed = isinstance(document, dict) and document.get("success") is False
    return "it is still serving" if failed else ""
