"""What a report says of somebody's server."""

from __future__ import annotations

from dataclasses import replace

from lab.judging import judge_run
from lab.records import ArmHistory, Reply
from lab.report.markdown import markdown
from lab.report.servers import servers
from tests.lab.replies import strange
from tests.lab.samples import history

WHERE = {"url": "http://127.0.0.1:30000", "boot": 2, "model": "m"}
DIFFERS = {"key": "tp", "asked": "2", "effective": "1", "where": "log"}
GAPS = {"n": 4, "mean": 10.0, "p50": 9.0, "p99": 20.0, "max": 21.0}


def streamed(session: int, first_s: float, **gaps: float) -> Reply:
    return strange(
        session=session, sent_s=1.0, first_token_s=first_s, last_token_s=2.0, gaps_ms=GAPS | gaps
    )


def failed(session: int, status: str, error: str) -> Reply:
    return strange(session=session, status=status, error=error)


def arm(*replies: Reply) -> ArmHistory:
    events = [
        (0, "server", WHERE),
        (9, "generator", {"lag_p99_us": 1500, "warning": ""}),
        (0, "cache_flush", {"where": "POST /flush", "done": True, "warning": ""}),
        (0, "setting_not_read", {"key": "dtype"}),
        (0, "setting_not_effective", DIFFERS),
    ]
    return replace(history("theirs", sessions=0), replies=list(replies), events=events)


def test_its_settings_streams_and_failures_are_told_each_kind_with_its_number() -> None:
    where, streams, failures = servers(
        [
            arm(
                streamed(0, 1.05),
                streamed(1, 1.15, n=12, mean=20.0, p50=19.0, p99=40.0, max=99.0),
                *(failed(2 + n, "timeout", f"stalled: no part for {n} s") for n in range(3)),
                failed(9, "transport_error", "HTTP 429: slow down"),
            )
        ]
    )
    assert where.rows == (
        (
            *("theirs", "http://127.0.0.1:30000", "2", "m"),
            *("tp: 2 runs as 1", "dtype", "flushed", "p99 1.5 ms"),
        ),
    )
    assert streams.rows == (("theirs", "2", "150.0", "150.0", "17.5", "19.0", "40.0", "99.0"),)
    assert failures.rows == (
        ("theirs", "3", "stalled: no part for N s"),
        ("theirs", "1", "HTTP 429: slow down"),
    )


def test_nothing_is_said_of_our_own_engine() -> None:
    assert servers([history("ours")]) == []


def test_it_stands_in_the_markdown() -> None:
    arms = [arm(streamed(0, 1.05))]
    verdict, _ = judge_run("r", "s", 0, arms, None)
    text = markdown(verdict, None, arms)
    assert "## Servers\n\n| arm | server | boot | model | asked and different | not read | " in text
    assert "| theirs | 1 | 50.0 | 50.0 | 10.0 | 9.0 | 20.0 | 21.0 |" in text
    assert "## Exchanges that failed" not in text
