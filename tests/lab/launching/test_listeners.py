"""A node is ready once it answers itself: a stranger on its port is not believed."""

from __future__ import annotations

import shlex
import urllib.error
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab.errors import TargetError
from lab.launching.listeners import stranger
from lab.launching.ports import LOOPBACK, Ports
from lab.launching.process import Process
from lab.launching.ready import await_ready
from lab.profiles import NodeCommand
from lab.profiles.models import Ready
from tests.lab.launching.launched import PATIENCE_S, PYTHON, get

IDLE = f"{PYTHON.split()[0]} -c 'import signal; signal.pause()'"
READY = Ready(timeout_s=PATIENCE_S)


@contextmanager
def process(folder: Path, name: str, line: str) -> Iterator[Process]:
    """A node of this command, stopped at the end."""
    started = Process(NodeCommand(name, tuple(shlex.split(line))), folder / f"{name}.log")
    try:
        yield started
    finally:
        started.stop(1.0)


@pytest.fixture
def port() -> Iterator[int]:
    with Ports() as ports:
        yield ports.take(["port"])["port"]


def test_another_s_answer_is_not_the_node_s(port: int, tmp_path: Path) -> None:
    url = f"http://{LOOPBACK}:{port}"
    with (
        process(tmp_path, "other", f"{PYTHON} plain --port {port}") as other,
        process(tmp_path, "server", IDLE) as node,
    ):
        await_ready([other], url, READY)
        says = rf"port {port} of node server belongs to process {other.pid} \(.+\), which this run"
        with pytest.raises(TargetError, match=says):
            await_ready([node], url, READY)


def test_what_a_node_has_started_is_the_node(port: int, tmp_path: Path) -> None:
    with process(tmp_path, "server", f"sh -c '{PYTHON} plain --port {port} & wait'") as node:
        await_ready([node], f"http://{LOOPBACK}:{port}", READY)
        assert stranger(port, node.pid) is None


def test_what_left_a_node_s_session_is_still_below_it(port: int, tmp_path: Path) -> None:
    url = f"http://{LOOPBACK}:{port}"
    line = f"sh -c 'setsid {PYTHON} plain --port {port} & wait'"
    with process(tmp_path, "server", line) as node:
        await_ready([node], url, READY)
        assert stranger(port, node.pid) is None
        with pytest.raises((urllib.error.URLError, ConnectionError)):
            get(f"{url}/die")  # no group of the node's ends it


def test_where_nobody_listens_there_is_no_stranger(port: int) -> None:
    assert stranger(port, 1) is None


def test_who_cannot_be_seen_is_no_stranger(port: int, tmp_path: Path) -> None:
    """Of another user's process nothing but its socket is told."""
    (tmp_path / "net").mkdir()
    address = f"0100007F:{port:04X} 00000000:0000 0A 00000000:00000000 00:00000000 00000000"
    (tmp_path / "net/tcp").write_text(f"head\n   0: {address}     0        0 4242 1\n")
    assert stranger(port, 1, tmp_path) is None
