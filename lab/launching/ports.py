"""Free ports on loopback. One rule: below those that the system hands to outgoing connections, and
never one that another kvlab has handed out.

A port between 20,000 and 32,000 is not taken by one of the load's own connections before the server
listens on it, which may be a minute later. Until it is released a port is reserved by a socket of
another family, in Linux's abstract names: these are shared by who shares the ports, no server that
starts is in their way, and a kvlab that dies has let go of them. Processes begin to seek at
different ports.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lab.errors import TargetError

if TYPE_CHECKING:
    from types import TracebackType

LOOPBACK = "127.0.0.1"
FIRST, LAST, STRIDE = 20_000, 32_000, 40
RESERVED = "\0kvlab-port-{port}"


class Ports:
    """Hands out ports on which nothing listens, each once; they are reserved until `release`."""

    def __init__(self, first: int | None = None) -> None:
        offset = os.getpid() * STRIDE % (LAST - FIRST)
        self._next = self._from(FIRST + offset if first is None else first)
        self._reserved: list[socket.socket] = []

    def __enter__(self) -> Ports:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def take(self, names: Sequence[str]) -> dict[str, int]:
        """A free port for each name; raises `TargetError` where there are none left."""
        return {name: self._free() for name in names}

    def release(self) -> None:
        """Let others have the ports that were handed out."""
        while self._reserved:
            self._reserved.pop().close()

    def _free(self) -> int:
        for port in self._next:
            if self._reserve(port):
                return port
        raise TargetError(f"no free port from {FIRST} to {LAST - 1} on {LOOPBACK}")

    def _reserve(self, port: int) -> bool:
        """Reserved first and tried then: of two that want it one alone gets so far."""
        if sys.platform != "linux":
            return is_free(port)
        name = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            name.bind(RESERVED.format(port=port))
        except OSError:
            name.close()
            return False
        if not is_free(port):
            name.close()
            return False
        self._reserved.append(name)
        return True

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
