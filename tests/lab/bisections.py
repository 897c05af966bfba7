"""Made-up bisections: what was probed and concluded, and the document of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from lab.bisect.conclusion import Arm, Belief, Bracket, Conclusion, Role, Verdict
from lab.bisect.notebook import Notebook, Phase, Probe
from lab.bisect.parameters import Parameters
from lab.bisect.space import Config
from lab.bisect.trials import Tally, Trial, Unit
from lab.bisect.worlds import SimulatedWorld
from lab.bisecting.document import Bisected, document
from lab.scenario.loader import parse_scenario
from lab.store import RunStatus, StoredBisection

ID = "20261130T000000-ab12"
YAML = """\
name: campaign
about: four toggles, of which two are to blame
build: [padded_scatter_stale_slots]
workload: {kind: tool_sessions, preset: small, sessions: 4}
engine: {radix: true}
toggles:
  index_k: {bad: bf16, good: fp8}
  graph: {bad: true, good: false}
  overlap: {bad: true, good: false}
  concurrency: {bad: 8, good: 1}
seed: 3
"""
KEYS = ("index_k", "graph", "overlap", "concurrency")
EVERY = frozenset(KEYS)
WEDGED = "wedged: request 7 waits for room 3"
REACH = {
    "c4:load:per_page:layer_first": 12,
    "c4:load:token_granular:layer_first": 0,
    "swa:load:token_granular:layer_first": 0,
}


def probe(
    phase: str, bad: Sequence[str], corrupt: int, sessions: int, unknown: str = "", **levels: int
) -> Probe:
    """One trial of so many sessions."""
    trial = Trial(
        index=0,
        sessions=sessions,
        corrupt=corrupt,
        unknown=unknown,
        verdict="wedged" if unknown else "corrupt" if corrupt else "clean",
        violations={"padded_row_wrote_owned_slot": 4 * corrupt} if corrupt else {},
        faults={"late_ack": 1} if "overlap" in bad else {},
        exposure={"padded_rows": 9 if "graph" in bad else 0, "prefix_hits": 5},
        reach=REACH,
        wall_s=0.5,
    )
    return Probe(Phase(phase), Config(frozenset(bad), tuple(levels.items())), (trial,))


BOTH_ENDS = (probe("reproduce", KEYS, 5, 24), probe("control", (), 0, 24))
SEARCHED = (
    *BOTH_ENDS,
    probe("discover", ("index_k", "graph"), 3, 20),
    probe("discover", ("index_k", "overlap"), 0, 20),
    probe("confirm", KEYS, 4, 20),
    probe("confirm", ("graph", "overlap", "concurrency"), 0, 100),
    probe("confirm", ("index_k", "overlap", "concurrency"), 0, 100),
    probe("confirm", ("index_k", "graph"), 3, 20),
    probe("threshold", ("index_k", "graph", "overlap"), 1, 8, concurrency=4),
)
BELIEFS = (
    Belief(68, ((("graph",), 0.5), (("index_k", "graph"), 0.3), ((), 0.1))),
    Belief(88, ((("index_k", "graph"), 0.992), (("graph",), 0.004))),
    Belief(340, ((("concurrency at 4",), 0.9), (("no level",), 0.1))),
)
CONFIRMED = Conclusion(
    verdict=Verdict.CONFIRMED,
    reason="index_k, graph: confirmed on fresh seeds",
    unit=Unit.SESSION,
    method="bayes",
    culprits=("index_k", "graph"),
    roles={
        "index_k": Role.NECESSARY,
        "graph": Role.NECESSARY,
        "overlap": Role.INNOCENT,
        "concurrency": Role.AGGRAVATING,
    },
    sufficient=True,
    context=("overlap", "concurrency"),
    posterior=0.992,
    bad=Tally(44, 9),
    good=Tally(24, 0),
    arms=(
        Arm("all", Config(EVERY), Tally(20, 4), 0.5, 0.02),
        Arm("without index_k", Config(EVERY - {"index_k"}), Tally(100, 0), 0.045, 0.0, 512.25),
        Arm("without graph", Config(EVERY - {"graph"}), Tally(100, 0), 0.045, 0.0, 3e9),
        Arm("culprits alone", Config(frozenset(("index_k", "graph"))), Tally(20, 3), 0.4, 0.01),
    ),
    thresholds=(Bracket("concurrency", 1, 4, ((1, Tally(100, 0)), (4, Tally(8, 1))), True, 0.99),),
    beliefs=BELIEFS,
    spent=336,
)
OPEN = replace(CONFIRMED, culprits=(), roles={}, sufficient=None, context=(), posterior=0.0)
OPEN = replace(OPEN, arms=(), thresholds=())


def ended(verdict: Verdict) -> dict[str, Any]:
    """A made-up document with this verdict."""
    conclusion, probes = ENDINGS[verdict]
    return told(conclusion, probes)


def told(conclusion: Conclusion, probes: Sequence[Probe] = SEARCHED) -> dict[str, Any]:
    """The document of what was concluded from these probes."""
    return document(bisected(conclusion, probes))


def bisected(conclusion: Conclusion = CONFIRMED, probes: Sequence[Probe] = SEARCHED) -> Bisected:
    """What that document is made of."""
    notebook = Notebook(SimulatedWorld(KEYS, frozenset(), p1=0.1, batch_sessions=4), 400)
    notebook.probes = list(probes)
    scenario = parse_scenario(YAML, "campaign.yaml")
    return Bisected(ID, scenario, "corrupt", Parameters(budget=400), notebook, conclusion)


def stored(**options: Any) -> StoredBisection:
    """A stored bisection with these options."""
    return StoredBisection(
        id=ID,
        scenario="campaign",
        yaml=YAML,
        seed=3,
        method="bayes",
        options={"file": "my files/campaign.yaml", "fix": [], "sets": [], **options},
        versions={"kvlab": "0.1.0"},
        status=RunStatus.DONE,
        started_at=datetime(2026, 11, 30),
        verdict=None,
        trials=9,
        sessions=336,
        wall_s=4.5,
    )


CLEAN = (probe("reproduce", KEYS, 0, 228),)
STUCK = tuple(probe("reproduce", KEYS, 0, 4, WEDGED) for _ in range(5))
ENDINGS: dict[Verdict, tuple[Conclusion, Sequence[Probe]]] = {
    Verdict.CONFIRMED: (CONFIRMED, SEARCHED),
    Verdict.SUSPECT: (
        replace(
            CONFIRMED,
            verdict=Verdict.SUSPECT,
            reason="index_k, graph: discovered",
            roles={},
            arms=(),
            thresholds=(),
        ),
        SEARCHED[:4],
    ),
    Verdict.UNDETERMINED: (
        replace(
            OPEN,
            verdict=Verdict.UNDETERMINED,
            reason="88 of 90 sessions are spent",
            candidates=(("graph",), ("index_k", "graph"), *((key,) for key in KEYS * 3)),
            beliefs=BELIEFS[:1],
        ),
        SEARCHED[:4],
    ),
    Verdict.NOT_REPRODUCED: (
        replace(
            OPEN,
            verdict=Verdict.NOT_REPRODUCED,
            reason="with every toggle bad: 0 of 228 sessions corrupt, so fewer than 2 % are",
            beliefs=(),
        ),
        CLEAN,
    ),
    Verdict.NOT_CONTROLLED: (
        replace(OPEN, verdict=Verdict.NOT_CONTROLLED, reason="2 of 24 corrupt", beliefs=()),
        (BOTH_ENDS[0], probe("control", (), 2, 24)),
    ),
    Verdict.INVALID: (
        replace(
            OPEN,
            verdict=Verdict.INVALID,
            reason="every toggle bad: never exercised: graph",
            beliefs=(),
        ),
        CLEAN,
    ),
    Verdict.LIVENESS: (
        replace(OPEN, verdict=Verdict.LIVENESS, reason="5 of 5 trials wedged", beliefs=()),
        STUCK,
    ),
}
