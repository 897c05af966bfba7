"""The address that is served at. One rule: it is taken before anything else is started."""

from __future__ import annotations

import errno
import socket
from typing import Any

from lab.errors import TargetError, UserError


def listen(host: str, port: int) -> socket.socket:
    """A bound socket; port 0 takes a free one.

    Raises `UserError` for an address that is none of this machine's, `TargetError` for a port that
    somebody else has.
    """
    family, address = _resolve(host, port)
    taken = socket.socket(family, socket.SOCK_STREAM)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(address)
    except OSError as error:
        taken.close()
        raise _refused(host, port, error) from None
    return taken


def url_of(taken: socket.socket) -> str:
    """Where clients find it: `http://127.0.0.1:30000`."""
    host, port = taken.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _resolve(host: str, port: int) -> tuple[socket.AddressFamily, Any]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "no name of a host"
        raise UserError(f"--host {host}: {why}; accepted: an address of this machine") from None
    family, _, _, _, address = found[0]
    return family, address


def _refused(host: str, port: int, error: OSError) -> TargetError | UserError:
    if error.errno == errno.EADDRINUSE:
        return TargetError(f"--port {port}: in use at {host}; --port 0 takes a free one")
    if error.errno == errno.EACCES:
        return UserError(f"--port {port}: not allowed; accepted: 0, or a port from 1024 on")
    return UserError(f"--host {host}: {error.strerror}; accepted: an address of this machine")
