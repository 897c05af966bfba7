"""What is seen while a bisection runs, and only by a person."""

from __future__ import annotations

import io
import threading

import pytest
from rich.console import Console

from lab.bisect.conclusion import Belief
from lab.bisect.notebook import Phase, Probe
from lab.bisect.space import Config
from lab.bisect.trials import Trial
from lab.bisecting.live import BisectLive

TOGGLES = ("index_k", "graph", "concurrency")
PAIR = Config(frozenset({"index_k", "graph"}))


def watched(*, terminal: bool) -> tuple[str, int]:
    """What a short search draws, and how many threads there were more than before."""
    told = io.StringIO()
    console = Console(file=told, force_terminal=terminal, width=100)
    before = threading.active_count()
    with BisectLive(TOGGLES, 300, console) as live:
        live.asks(Phase.REPRODUCE, Config(frozenset(TOGGLES)), 1)
        live.told(Probe(Phase.REPRODUCE, Config(frozenset(TOGGLES)), (Trial(0, 6, 1),)), 6)
        live.believes(Belief(6, ((("index_k", "graph"), 0.75), ((), 0.25))))
        live.asks(Phase.DISCOVER, PAIR, 2)
        live.ended(Trial(1, 6, 0))
        threads = threading.active_count() - before
    return told.getvalue(), threads


def test_nobody_watching_means_silence() -> None:
    assert watched(terminal=False) == ("", 0)


def test_a_person_sees_phase_spent_last_probe_and_bars_and_no_thread_draws() -> None:
    drawn, threads = watched(terminal=True)
    assert "discover: index_k, graph bad" in drawn
    assert "12 of 300 sessions, trial 1 of 2" in drawn
    assert "last probe: all bad: 1 of 6 sessions corrupt" in drawn
    assert "index_k + graph " + "█" * 18 in drawn
    assert "no toggle" in drawn and "75.0 %" in drawn
    assert threads == 0


@pytest.mark.parametrize(
    ("config", "name"),
    [
        (Config(), "all good"),
        (Config(frozenset(TOGGLES)), "all bad"),
        (Config(frozenset({"graph"})), "graph bad"),
        (Config(frozenset({"graph"}), (("concurrency", 4),)), "graph, concurrency 4 bad"),
    ],
)
def test_a_configuration_is_named_in_few_words(config: Config, name: str) -> None:
    assert BisectLive(TOGGLES, 1).named(config) == name
