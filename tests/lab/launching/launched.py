"""Profiles of stand-ins, and what a test may ask of processes."""

from __future__ import annotations

import json
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.clock import deadline
from lab.profiles.loader import parse_profile
from lab.profiles.models import Profile

STAND_IN = Path(__file__).with_name("stand_in.py")
PYTHON = f"{sys.executable} {STAND_IN}"
PATIENCE_S = 60.0  # of a slow machine; nothing waits so long where it works

ONE = """\
name: sick
about: a stand-in
status: "run: by this test"
params: {more: ""}
nodes:
  - name: server
    command: "{python} plain --port {port} {toggles*} {more*}"
    ready: {timeout_s: 60}
endpoint: server
toggles:
  size: {about: a number, type: int, flag: --size}
"""
PAIR = """\
name: pair
about: a server and its router
status: "run: by this test"
params: {more: ""}
nodes:
  - {name: server, command: "{python} plain --port {port} --probes 3 {toggles*}"}
  - name: router
    command: "{python} plain --port {port} --needs http://127.0.0.1:{server.port} {more*}"
endpoint: router
toggles:
  size: {about: a number, type: int, flag: --size}
"""


def profile(text: str = ONE, old: str = "", new: str = "") -> Profile:
    """The profile of a stand-in, in which ``new`` may stand for ``old``."""
    text = text.replace(old, new) if old else text
    text = text.replace("{python}", PYTHON)
    return parse_profile(text, f"{text.split()[1]}.yaml")


def get(url: str) -> Any:
    """The JSON that is served there."""
    with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
        return json.load(answer)


def runs(pid: int) -> bool:
    """Whether the process is there and is no corpse that its new parent has yet to bury."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def until(true: Callable[[], bool]) -> None:
    """Wait for what must come, however slow the machine is."""
    left = deadline(PATIENCE_S)
    while not true():
        if not left():
            pytest.fail("it did not come")
