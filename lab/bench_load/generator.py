"""Our driver as a program, so that it is measured as others are: from outside.

``python -m lab.bench_load.generator URL MODEL SESSIONS REQUESTS RATE OUT``: so many requests, each
a session of one turn, at most ``SESSIONS`` at once, arriving ``RATE`` a second (0: all at once);
what was received goes to ``OUT`` as JSON. One rule: it is `lab.driver`, and nothing else.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from engine import clock
from lab.driver import Load, Recorder, drive
from lab.driver.lag import Lag, watching_lag
from lab.driver.url import client
from lab.records import SessionPlan, TurnPlan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.records import Reply

NO_CALL = '{"status":"ok"}'  # the result of a tool that nobody is asked to call


def prompt(number: int) -> str:
    """What a request says: the same of every generator."""
    return f"Session {number}: say something about keys and values."


def plans(requests: int, rate: float) -> list[SessionPlan]:
    """Sessions of one turn."""
    return [_plan(number, number / rate if rate else 0.0) for number in range(requests)]


def _plan(number: int, start_s: float) -> SessionPlan:
    asked = {"role": "user", "content": prompt(number)}
    turn = TurnPlan((asked,), expected_text="", expected_call={}, tool_result=NO_CALL)
    return SessionPlan(
        index=number,
        group=0,
        system="You are a helpful assistant.",
        tools=(),
        turns=(turn,),
        secrets=(),
        start_s=start_s,
        think_s=(0.0,),
    )


async def generate(url: str, load: Load, planned: Sequence[SessionPlan]) -> dict[str, Any]:
    """Drive them all to their end; what was received, JSON-ready."""
    recorder = Recorder(planned)
    async with client(url, {}) as http, watching_lag() as lateness:
        await drive(http, load, recorder)
        lag = lateness.read()
    return told(recorder.replies(), lag)


def told(replies: Sequence[Reply], lag: Lag) -> dict[str, Any]:
    """Means over the replies that came whole; times in milliseconds, the lag in seconds."""
    whole = [reply for reply in replies if reply.status == "ok"]
    firsts = [it.first_token_s - it.sent_s for it in whole if it.first_token_s is not None]
    gaps = [reply.gaps_ms["mean"] for reply in whole if reply.gaps_ms]
    return {
        "replies": len(whole),
        "failed": sorted({str(reply.error) for reply in replies if reply.status != "ok"}),
        "ttft_ms": fmean(firsts) * 1e3 if firsts else None,
        "itl_ms": fmean(gaps) if gaps else None,
        "lag": asdict(lag),
    }


def main(argv: Sequence[str]) -> None:
    """See the module."""
    url, model, sessions, requests, rate, out = argv
    load = Load(concurrency=int(sessions), model=model, extra={})
    planned = plans(int(requests), float(rate))
    Path(out).write_text(json.dumps(clock.run_wall(generate(url, load, planned))))


if __name__ == "__main__":
    main(sys.argv[1:])
