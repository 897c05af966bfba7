"""Ports on which a server can listen."""

from __future__ import annotations

import socket

import pytest

from lab.errors import TargetError
from lab.launching.ports import FIRST, LAST, LOOPBACK, Ports, is_free, listens


def free() -> int:
    """A port on which nobody listens."""
    return next(port for port in range(LAST - 200, LAST) if is_free(port))


def test_every_name_gets_a_port_of_its_own() -> None:
    ports = Ports()
    taken = [*ports.take(["a.port", "a.nixl"]).values(), *ports.take(["b.port"]).values()]
    assert len(set(taken)) == 3
    assert all(FIRST <= port < LAST for port in taken)


def test_a_port_that_is_held_is_passed_over() -> None:
    with socket.create_server((LOOPBACK, free())) as held:
        port = held.getsockname()[1]
        assert listens(port)
        assert not is_free(port)
        assert Ports(first=port).take(["a"])["a"] != port


def test_ports_come_to_an_end_in_one_line() -> None:
    ports = Ports()
    ports._next = iter(())
    with pytest.raises(TargetError, match="no free port"):
        ports.take(["a"])
