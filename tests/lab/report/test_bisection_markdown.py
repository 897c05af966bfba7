"""A bisection in markdown: what the terminal says, and the command that repeats it."""

from __future__ import annotations

import shlex

import pytest

from lab.bisect.conclusion import Verdict
from lab.report.bisection_markdown import bisection_markdown, command
from lab.report.bisection_words import headline
from tests.lab.bisections import ended, stored


@pytest.mark.parametrize("verdict", list(Verdict))
def test_every_verdict_has_its_headline_its_guarantee_and_the_command(verdict: Verdict) -> None:
    document = ended(verdict)
    text = bisection_markdown(document, stored(), {"posterior.png": "Beliefs."})
    assert text.startswith("# campaign: bisection 20261130T000000-ab12\n")
    assert headline(document) in text
    assert all(f"- {line}" in text for line in document["guarantee"])
    assert "```sh\nkvlab bisect 'my files/campaign.yaml' --seed 3\n```" in text
    assert "![Beliefs.](posterior.png)" in text
    assert text == bisection_markdown(document, stored(), {"posterior.png": "Beliefs."})


def test_tables_are_the_terminals() -> None:
    text = bisection_markdown(ended(Verdict.CONFIRMED), stored())
    assert "| toggle | bad | good | role | % bad (corrupt) | % good (corrupt) | good 95 % |" in text
    assert "| graph * | true | false | NECESSARY | 17.9 (15 of 84) | 0 (0 of 120) | 0–3.0 |" in text
    assert "## Figures" not in text


def test_every_probe_is_a_row_with_its_answer() -> None:
    text = bisection_markdown(ended(Verdict.CONFIRMED), stored())
    probes = text.partition("## Every probe\n\n")[2].splitlines()
    assert len(probes) == 2 + 9
    assert probes[4] == "| 3 | discover | index_k=bf16, graph=true | 3 of 20 |  |"
    assert "| threshold | index_k=bf16, graph=true, overlap=true, concurrency=4 | 1 of 8 |" in text
    assert "| 2 | control | no toggle | 0 of 24 |" in text


def test_what_is_needed_to_repeat_it_is_there() -> None:
    text = bisection_markdown(ended(Verdict.CONFIRMED), stored())
    assert "- build: padded_scatter_stale_slots" in text
    assert "- workload: kind tool_sessions, preset small, sessions 4" in text
    assert "- versions: kvlab 0.1.0" in text
    assert "alpha 0.01, p_min 0.02" in text


def test_the_command_has_every_option_that_was_typed() -> None:
    typed = {
        "method": "ddmin",
        "budget": 900,
        "unit": None,
        "fix": ["pd", "graph"],
        "no_confirm": True,
        "sets": ["engine.radix=false"],
        "sessions": 4,
    }
    assert shlex.split(command(stored(**typed))) == [
        *("kvlab", "bisect", "my files/campaign.yaml", "--method", "ddmin", "--budget", "900"),
        *("--fix", "pd", "--fix", "graph", "--no-confirm", "--set", "engine.radix=false"),
        *("--sessions", "4", "--seed", "3"),
    ]
