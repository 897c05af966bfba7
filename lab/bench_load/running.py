"""One run of one generator against a server started for it, both watched from outside.

One rule: the server is a fresh process each time, so what it sent is what this generator asked for;
neither process outlives the run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import httpx

from engine import clock
from lab.bench_load.mock import Truth
from lab.bench_load.ruler import Rates, Sample, rates, tree_cpu_s
from lab.errors import TargetError
from lab.launching.ports import Ports
from lab.launching.process import Guard, Process
from lab.profiles import NodeCommand

if TYPE_CHECKING:
    from pathlib import Path

    from lab.bench_load.mock import Pace
    from lab.bench_load.peers import Asked, Generator, Said

LOOK_S, START_S, GRACE_S = 0.1, 30.0, 2.0
SLOW = 30.0  # a run may take so many times as long as an unhindered one


@dataclass(frozen=True)
class Run:
    """What one run left: by the server, by the generator, and by the ruler."""

    said: Said
    truth: Truth
    rates: Rates
    server_cores: float


@contextmanager
def server(pace: Pace, folder: Path) -> Iterator[tuple[str, Process]]:
    """A mock server's URL, and its process."""
    with Ports() as ports:
        port = ports.take(["mock"])["mock"]
        numbers = str(port), str(pace.ttft_s), str(pace.itl_s), str(pace.tokens)
        argv = sys.executable, "-m", "lab.bench_load.mock", *numbers
        with started(NodeCommand("mock server", argv), folder / "mock.log") as process:
            yield f"http://127.0.0.1:{port}", process


@contextmanager
def started(command: NodeCommand, log: Path) -> Iterator[Process]:
    """A process that does not outlive the block."""
    guard, process = Guard(), Process(command, log)
    guard.watch(process.pid)
    try:
        yield process
    finally:
        process.stop(GRACE_S)
        guard.forget(process.pid)
        guard.close()


def run(generator: Generator, python: str, asked: Asked, pace: Pace, mock: Process) -> Run:
    """Start the generator, watch it to its end and read what it says; raises ``TargetError``."""
    with httpx.Client(base_url=asked.url, trust_env=False) as http:
        _ready(http, mock)
        command = NodeCommand(generator.name, generator.argv(python, asked))
        with started(command, asked.folder / f"{generator.name}.log") as process:
            samples = _watch(http, process, SLOW * (10.0 + asked.requests * pace.reply_s))
            died = process.died()
        cpu_s = tree_cpu_s(mock.pid)
        truth = Truth(**http.get("/truth").json())
    try:
        said = generator.read(asked.folder)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TargetError(f"{generator.name} says nothing: {died} ({error!r})") from None
    busy_s = samples[-1].at_s - samples[0].at_s
    measured = rates(samples, asked.requests * pace.tokens)
    return Run(said, truth, measured, cpu_s / busy_s if busy_s else 0.0)


def _ready(http: httpx.Client, mock: Process) -> None:
    left = clock.deadline(START_S)
    while left():
        try:
            http.get("/sent").raise_for_status()
            return
        except httpx.TransportError:
            died = "no" if mock.wait(0.02) else None
        if died:
            break
    raise TargetError(f"the mock server does not answer: {mock.died()}")


def _watch(http: httpx.Client, process: Process, seconds: float) -> list[Sample]:
    """Look at tokens and CPU seconds until the generator ends; at least one look."""
    left, samples = clock.deadline(seconds), [_look(http, process)]
    while not process.wait(LOOK_S):
        samples.append(_look(http, process))
        if not left():
            raise TargetError(f"{process.command.name} did not end; log: {process.log}")
    last = _look(http, process)  # its process has gone, and what it used with it
    return [*samples, replace(last, cpu_s=samples[-1].cpu_s)]


def _look(http: httpx.Client, process: Process) -> Sample:
    sent: dict[str, Any] = http.get("/sent").json()
    return Sample(clock.wall_s(), sent["tokens"], tree_cpu_s(process.pid))
