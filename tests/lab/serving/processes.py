"""`kvlab serve` as a user starts it: a process of its own, asked over loopback."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from lab.driver import Load, Recorder, drive
from lab.records import Reply
from lab.workloads import resolve

ROOT = Path(__file__).parents[3]
SAID = re.compile(r"kvlab: listening on (?P<url>http://127\.0\.0\.1:[0-9]+) \((?P<what>.*)\)\n")
PATIENCE_S = 120  # for a machine that is busy; nothing waits so long


@dataclass(frozen=True)
class Served:
    """One server that listens at ``url``; ``what`` it says it is."""

    url: str
    what: str
    process: subprocess.Popen[str]

    def stopped_by(self, number: int) -> tuple[int, str]:
        """Its exit code after a signal, and what it said last."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, said

    def metrics(self) -> dict[str, int]:
        """Every sample of `/metrics`, by its label, or by its metric where it has none."""
        lines = httpx.get(f"{self.url}/metrics").text.splitlines()
        found = [re.fullmatch(r'(\w+)(?:\{name="(.*)"\})? (\d+)', line) for line in lines]
        return {it[2] or it[1]: int(it[3]) for it in found if it}

    def wrong(self, sessions: int, concurrency: int) -> list[Reply]:
        """Drives tool sessions of the small preset; the replies that say what they should not."""
        load = resolve("tool_sessions", "small", {"sessions": sessions})
        recorder = Recorder(load.kept(0))
        how = Load(concurrency=concurrency, max_tokens=load.max_tokens)

        async def main() -> None:
            async with httpx.AsyncClient(base_url=self.url, timeout=PATIENCE_S) as http:
                await drive(http, how, recorder)

        asyncio.run(main())
        replies = recorder.replies()
        assert {reply.status for reply in replies} == {"ok"}
        return [reply for reply in replies if reply.raw_text != reply.expected_text]


@contextmanager
def serving(*argv: str) -> Iterator[Served]:
    """A server until the end of the block, where it is killed unless it was stopped."""
    command = [sys.executable, "-W", "error", "-m", "lab.app", "serve", "--port", "0", *argv]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            first = process.stderr.readline()
            said = SAID.fullmatch(first)
            assert said, first
            yield Served(said["url"], said["what"], process)
        finally:
            process.kill()
