"""Other generators: their command lines, and their reports as they wrote them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lab.bench_load.generator import plans, told
from lab.bench_load.peers import GENERATORS, Asked, Said
from lab.driver.lag import Lag
from tests.lab.samples import reply

REPORTS = {
    "kvlab": ("said.json", {"replies": 3, "ttft_ms": 21.0, "itl_ms": 10.1, "lag": {"p99_s": 0.1}}),
    "guidellm": (
        "said.json",
        {
            "benchmarks": [
                {
                    "metrics": {
                        "time_to_first_token_ms": {"successful": {"count": 3, "mean": 21.0}},
                        "inter_token_latency_ms": {"successful": {"count": 189, "mean": 10.1}},
                    }
                }
            ]
        },
    ),
    "aiperf": (
        "profile_export_aiperf.json",
        {
            "request_count": {"unit": "requests", "avg": 3.0},
            "time_to_first_token": {"unit": "ms", "avg": 21.0},
            "inter_token_latency": {"unit": "ms", "avg": 10.1},
        },
    ),
}


@pytest.mark.parametrize("name", sorted(REPORTS))
def test_a_report_says_how_many_replies_and_their_times(name: str, tmp_path: Path) -> None:
    file, document = REPORTS[name]
    (tmp_path / file).write_text(json.dumps(document))
    said = GENERATORS[name].read(tmp_path)
    assert (said.replies, said.ttft_ms, said.itl_ms) == (3, 21.0, 10.1)
    assert said.lag == ({"p99_s": 0.1} if name == "kvlab" else None)


@pytest.mark.parametrize("name", ["aiperf", "guidellm"])
def test_another_generator_is_run_from_its_environment_with_our_prompts(
    name: str, tmp_path: Path
) -> None:
    asked = Asked("http://127.0.0.1:9", sessions=7, requests=3, rate=0.0, folder=tmp_path)
    argv = GENERATORS[name].argv("/env/bin/python", asked)
    assert argv[0] == f"/env/bin/{name}"
    words = " ".join(argv)
    assert "http://127.0.0.1:9" in words
    assert "7" in words.replace("127", "")
    lines = (tmp_path / "prompts.jsonl").read_text().splitlines()
    (plan, *_) = plans(3, 0.0)
    assert len(lines) == 3
    assert plan.turns[0].prompt_messages[0]["content"] in json.loads(lines[0]).values()


def test_ours_is_told_all_there_is_to_ask(tmp_path: Path) -> None:
    asked = Asked("http://127.0.0.1:9", sessions=7, requests=3, rate=2.5, folder=tmp_path)
    argv = GENERATORS["kvlab"].argv("python", asked)
    numbers = "http://127.0.0.1:9", "mock", "7", "3", "2.5"
    assert argv[3:] == (*numbers, str(tmp_path / "said.json"))


def test_arrivals_are_even_or_at_once() -> None:
    assert [plan.start_s for plan in plans(3, 2.0)] == [0.0, 0.5, 1.0]
    assert [plan.start_s for plan in plans(3, 0.0)] == [0.0, 0.0, 0.0]


def test_what_ours_tells_is_of_replies_that_came_whole() -> None:
    whole = replace(reply(0, 0), sent_s=1.0, first_token_s=1.25, gaps_ms={"n": 3, "mean": 12.0})
    failed = replace(whole, status="timeout", error="no end", gaps_ms={"n": 1, "mean": 99.0})
    said = told([whole, failed], Lag(p99_s=0.5))
    assert (said["replies"], said["ttft_ms"], said["itl_ms"]) == (1, 250.0, 12.0)
    assert (said["failed"], said["lag"]["p99_s"]) == (["no end"], 0.5)
    nothing = told([failed], Lag())
    assert (nothing["ttft_ms"], nothing["itl_ms"]) == (None, None)
    assert Said(1, None, None).lag is None
