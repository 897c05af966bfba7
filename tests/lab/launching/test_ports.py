"""Ports on which a server can listen."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from lab.errors import TargetError
from lab.launching.ports import FIRST, LAST, LOOPBACK, Ports, is_free, listens

ROOT = Path(__file__).parents[3]
# takes a port from where it is told to seek, tells it, and keeps it until its input ends
ANOTHER = (
    "import sys; from lab.launching.ports import Ports\n"
    "ports = Ports(first=int(sys.argv[1])); print(ports.take(['a'])['a'], flush=True)\n"
    "sys.stdin.read(); ports.release()\n"
)


def free() -> int:
    """A port on which nobody listens."""
    return next(port for port in range(LAST - 200, LAST) if is_free(port))


def test_every_name_gets_a_port_of_its_own() -> None:
    with Ports() as ports:
        taken = [*ports.take(["a.port", "a.nixl"]).values(), *ports.take(["b.port"]).values()]
    assert len(set(taken)) == 3
    assert all(FIRST <= port < LAST for port in taken)


def test_a_port_that_is_held_is_passed_over() -> None:
    with socket.create_server((LOOPBACK, free())) as held:
        port = held.getsockname()[1]
        assert listens(port)
        assert not is_free(port)
        with Ports(first=port) as ports:
            assert ports.take(["a"])["a"] != port


def test_two_kvlabs_that_seek_from_one_port_take_two() -> None:
    """Nothing listens on either: both servers have yet to start."""
    port, pipe = free(), subprocess.PIPE
    argv = [sys.executable, "-c", ANOTHER, str(port)]
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) as another:
        assert another.stdout is not None
        taken = int(another.stdout.readline())
        with Ports(first=taken) as ports:
            assert is_free(taken)
            assert ports.take(["a"])["a"] != taken


def test_who_was_killed_reserves_nothing() -> None:
    port, pipe = free(), subprocess.PIPE
    argv = [sys.executable, "-c", ANOTHER, str(port)]
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) as another:
        assert another.stdout is not None
        taken = int(another.stdout.readline())
        another.kill()
        another.wait()
        with Ports(first=taken) as ports:
            assert ports.take(["a"])["a"] == taken


def test_ports_that_were_released_can_be_taken_again() -> None:
    port = free()
    for _ in range(2):
        with Ports(first=port) as ports:
            assert ports.take(["a"])["a"] == port


def test_ports_come_to_an_end_in_one_line() -> None:
    ports = Ports()
    ports._next = iter(())
    with pytest.raises(TargetError, match="no free port"):
        ports.take(["a"])
