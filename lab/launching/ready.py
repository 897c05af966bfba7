"""Whether a node answers yet, or no more. One rule: a death ends the wait at once, and says why.

An answer is the node's only where no stranger listens there: a server that finds its port taken may
need a minute to say so, while the other one answers for it.
"""

from __future__ import annotations

import select
from collections.abc import Sequence
from typing import TYPE_CHECKING

import httpx

from engine.clock import deadline
from lab.errors import TargetError
from lab.launching.listeners import stranger
from lab.launching.logs import last_line
from lab.launching.ports import listens

if TYPE_CHECKING:
    from lab.launching.process import Process
    from lab.profiles.models import Ready

PAUSE_S = 0.05
ANSWER_S = 5.0  # a probe that hangs is asked again


def await_ready(started: Sequence[Process], url: str, ready: Ready) -> None:
    """Return once the node that was started last answers; none of ``started`` may have ended.

    Raises `TargetError`.
    """
    left, node = deadline(ready.timeout_s), started[-1]
    with httpx.Client(trust_env=False) as client:
        while said := _probe(client, url + ready.path, left()):
            _all_live(started)
            if not left():
                _no_stranger(node, url)
                raise TargetError(_late(node, ready, said))
            node.wait(min(PAUSE_S, left()))
    _all_live(started)
    _no_stranger(node, url)


def await_silence(url: str, seconds: float) -> None:
    """Return once nobody listens at ``url`` any more, at the latest after ``seconds``."""
    left, port = deadline(seconds), _port(url)
    while listens(port) and left():
        select.select([], [], [], PAUSE_S)  # whoever listens is no child of ours to wait for


def _probe(client: httpx.Client, url: str, left_s: float) -> str:
    """What is wrong with the answer; '' where nothing is."""
    try:
        code = client.get(url, timeout=min(ANSWER_S, max(left_s, 0.1))).status_code
    except httpx.HTTPError as error:
        return type(error).__name__
    return "" if code == httpx.codes.OK else f"status {code}"


def _all_live(started: Sequence[Process]) -> None:
    for found in filter(None, (process.died() for process in started)):
        raise TargetError(f"{found}; it never became ready")


def _no_stranger(node: Process, url: str) -> None:
    port = _port(url)
    found = stranger(port, node.pid)
    if found is not None:
        raise TargetError(
            f"port {port} of node {node.command.name} belongs to process {found.pid} "
            f"({found.name}), which this run did not start; log: {node.log}"
        )


def _port(url: str) -> int:
    return int(url.rpartition(":")[2])


def _late(node: Process, ready: Ready, said: str) -> str:
    heard = last_line(node.log)
    last = f"last line: {heard}" if heard else "it printed nothing"
    return (
        f"node {node.command.name} is not ready after {ready.timeout_s:g} s "
        f"(GET {ready.path}: {said}); {last}; log: {node.log}"
    )
