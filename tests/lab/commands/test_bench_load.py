"""`kvlab bench load`: a short run with real processes, its table, its document, and mistakes."""

from __future__ import annotations

import json

SHORT = ("--tokens", "4", "--itl-ms", "5", "--ttft-ms", "1", "--seconds", "0.1")


def test_a_run_sends_and_receives_all_that_was_asked_for(kvlab) -> None:
    said = kvlab("bench", "load", "--sessions", "3", *SHORT, "--json")
    assert said.code == 0
    document = json.loads(said.out)
    (row,) = document["rows"]
    assert (row["generator"], row["sessions"], row["failed"]) == ("kvlab", 3, 0)
    assert row["requests"] == 18
    assert row["itl_ms"] > 0.0 and row["ttft_ms"] > 0.0 and row["itl_sent_ms"] > 0.0
    assert row["requests_per_s"] > 0.0
    assert document["pace"]["tokens"] == 4


def test_the_table_fits(kvlab) -> None:
    said = kvlab("bench", "load", "--sessions", "2", "--rate", "40", *SHORT)
    assert said.code == 0 and said.err == ""
    assert "4 tokens a reply, 5 ms apart" in said.out and "done/s/core" in said.out
    assert max(map(len, said.out.splitlines())) <= 100


def test_mistakes_are_one_line(kvlab) -> None:
    for argv in (("--sessions", "many"), ("--beside", "wrk"), ("--beside", "aiperf")):
        said = kvlab("bench", "load", *argv)
        assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
