"""Free ports on loopback. One rule: below those that the system hands to outgoing connections.

A port between 20,000 and 32,000 is not taken by one of the load's own connections before the server
listens on it. Processes begin to seek at different ones.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Sequence

from lab.errors import TargetError

LOOPBACK = "127.0.0.1"
FIRST, LAST, STRIDE = 20_000, 32_000, 40


class Ports:
    """Hands out ports on which nothing listens, each once."""

    def __init__(self, first: int | None = None) -> None:
        offset = os.getpid() * STRIDE % (LAST - FIRST)
        self._next = self._from(FIRST + offset if first is None else first)

    def take(self, names: Sequence[str]) -> dict[str, int]:
        """A free port for each name; raises `TargetError` where there are none left."""
        return {name: self._free() for name in names}

    def _free(self) -> int:
        for port in self._next:
            if is_free(port):
                return port
        raise TargetError(f"no free port from {FIRST} to {LAST - 1} on {LOOPBACK}")

    @staticmethod
    def _from(first: int) -> Iterator[int]:
        yield from range(first, LAST)
        yield from range(FIRST, first)


def is_free(port: int) -> bool:
    """Whether a server could listen on the port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tried:
        try:
            tried.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


def listens(port: int) -> bool:
    """Whether somebody answers on the port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as caller:
        caller.settimeout(1.0)
        return caller.connect_ex((LOOPBACK, port)) == 0
