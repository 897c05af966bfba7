"""A scenario's target as a search asks it: trials by index, judged, the same however many work."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lab.bisect.notebook import Refused
from lab.bisect.space import Config
from lab.bisect.trials import Trial, Unit, tally
from lab.bisecting.remembering import Remembering
from lab.bisecting.space_of import arm_of
from lab.bisecting.world import EngineWorld, trial_seed
from lab.errors import TargetError, UserError
from lab.records import ArmHistory
from lab.scenario.loader import parse_scenario
from lab.scenario.models import Scenario
from lab.targets import TARGETS, Task
from lab.targets.spec import TargetSpec
from lab.trial import run_arm
from tests.lab.replies import EXPECTED, TOOLS, said
from tests.lab.samples import VIOLATION, history

TEXT = """
name: of_a_fake
workload: {kind: tool_sessions, preset: small, sessions: 4}
toggles:
  index_k: {bad: bf16, good: fp8}
  graph: {bad: true, good: false}
  hicache: {bad: true, good: false}
  concurrency: {bad: 8, good: 1}
  waiting_timeout: {bad: 3.0, good: 300.0}
  pd: {bad: true, good: false}
bisect: {boot_cost: 3}
"""
REAL = """
name: of_the_engine
workload: {kind: tool_sessions, preset: small, sessions: 1, turns: 1}
engine: {radix: false}
toggles:
  graph: {bad: true, good: false}
"""
FAKE = TargetSpec("bundled", "fake")
WRONG = EXPECTED.replace("MINE12345", "MINE12354")
BOTH = Config(frozenset({"index_k", "graph"}))
TIERS = Config(frozenset({"hicache"}))
RANKS = Config(frozenset({"pd"}))
SLOW = Config(frozenset({"concurrency"}))
NONE = Config()


def fake(task: Task) -> ArmHistory:
    """What the settings make of it: corrupt, wedged, short of a reply, refused, broken, clean."""
    on = task.settings
    if on["concurrency"] == 2:
        raise UserError(f"arm {task.name!r}: no two at once")
    if on["concurrency"] == 4:
        raise TargetError("the target did not start")
    bad = task.seed % len(task.plans) + 1 if on["graph"] and on["index_k"] == "bf16" else 0
    many = len(task.plans)
    made = history(task.name, corrupt=bad, sessions=many, turns=1)
    made.replies = [
        replace(said(WRONG if session < bad else EXPECTED), session=session)
        for session in range(many)
    ]
    offered = [{"function": {"name": name, "parameters": it}} for name, it in TOOLS.items()]
    made.events = [(0, "tools_offered", {"tools": json.dumps(offered)})]
    made.settings, made.history_digest = dict(on), f"sha256:{task.seed}"
    made.counters |= {"path:c4:load:page:layer_first": 0, "path_rows:c4:load:page:layer_first": 0}
    made.counters |= {"graph_replays": int(on["graph"])}
    if on["pd"]:
        made.stalled = "nobody waits for anything"
    if on["hicache"]:
        made.counters |= {"path:c4:load:page:layer_first": 7, "pages_restored": 0}
    if on["concurrency"] == 8:
        made.replies[0] = replace(made.replies[0], status="timeout", raw_text=None)
    return made


@pytest.fixture
def scenario(monkeypatch: pytest.MonkeyPatch) -> Scenario:
    """A scenario whose target is the fake."""
    TARGETS.all()
    monkeypatch.setitem(TARGETS._items, "fake", fake)
    return parse_scenario(TEXT, "fake.yaml").model_copy(update={"target": FAKE})


def probed(scenario: Scenario, config: Config, *, outcome: str = "corrupt") -> Trial:
    with EngineWorld(scenario, seed=7, outcome=outcome) as world:
        (trial,) = world.probe(config, range(1))
    return trial


def test_what_a_probe_costs_is_the_scenario_s(scenario: Scenario) -> None:
    with EngineWorld(scenario, seed=0) as world:
        assert (world.batch_sessions, world.boot_cost) == (4, 3.0)


def test_a_trial_is_what_its_arm_shows(scenario: Scenario) -> None:
    trial = probed(scenario, BOTH)
    seed = trial_seed(7, 0)
    assert (trial.index, trial.seed, trial.digest) == (0, seed, f"sha256:{seed}")
    assert (trial.sessions, trial.corrupt, trial.unknown) == (4, seed % 4 + 1, "")
    assert (trial.verdict, trial.counted) == ("corrupt", True)
    assert trial.violations == {VIOLATION: 31}
    assert trial.exposure["graph_replays"] == 1
    assert trial.reach == {"c4:load:page:layer_first": 0}  # never taken, and said so
    assert trial.wall_s == 14.25


def test_one_index_is_one_load_in_every_configuration(scenario: Scenario) -> None:
    with EngineWorld(scenario, seed=7) as world:
        bad, good = world.probe(BOTH, range(5, 8)), world.probe(NONE, range(5, 8))
    assert [trial.index for trial in bad] == [5, 6, 7]
    assert [trial.seed for trial in bad] == [trial.seed for trial in good]
    assert len({trial.seed for trial in bad}) == 3


def test_bisections_of_other_seeds_share_no_load() -> None:
    seeds = [trial_seed(seed, index) for seed in range(20) for index in range(500)]
    assert len(set(seeds)) == len(seeds)
    assert 0 <= min(seeds) and max(seeds) < 2**63
    assert (trial_seed(0, 0), trial_seed(0, 1)) == (189606541285482, 262866211575819)


def test_a_run_with_the_trial_s_seed_repeats_it(scenario: Scenario) -> None:
    trial = probed(scenario, BOTH)
    assert run_arm(scenario, arm_of(scenario, BOTH), trial.seed).history_digest == trial.digest


def test_a_wedged_trial_shows_neither_and_is_known_as_wedged(scenario: Scenario) -> None:
    trial = probed(scenario, RANKS)
    assert (trial.corrupt, trial.verdict, trial.counted) == (0, "wedged", False)
    assert trial.unknown == "wedged: nobody waits for anything"


def test_a_trial_with_replies_missing_shows_nothing(scenario: Scenario) -> None:
    trial = probed(scenario, SLOW)
    assert (trial.verdict, trial.counted) == ("inconclusive", False)
    assert trial.unknown.startswith("1 of 4 replies unfinished")


def test_where_a_wedge_is_sought_the_whole_boot_counts(scenario: Scenario) -> None:
    stuck, fine, wrong, short = (
        probed(scenario, config, outcome="wedged") for config in (RANKS, NONE, BOTH, SLOW)
    )
    assert (stuck.corrupt, stuck.sessions, stuck.unknown) == (4, 4, "nobody waits for anything")
    assert [trial.corrupt for trial in (fine, wrong, short)] == [0, 0, 0]
    trials = (stuck, fine, wrong, short)
    assert tally(trials, Unit.BOOT).rate == tally(trials, Unit.SESSION).rate == 0.25


def test_one_trial_that_missed_a_path_counts_and_all_of_them_prove_nothing(
    scenario: Scenario,
) -> None:
    with EngineWorld(scenario, seed=7) as world:
        outcome = world.probe(TIERS, range(2))
        assert [trial.unknown for trial in outcome] == ["", ""]
        assert world.unexercised(TIERS, outcome).startswith("never exercised: hicache (")
        moved = replace(outcome[0], exposure={**outcome[0].exposure, "pages_restored": 1})
        assert world.unexercised(TIERS, [moved, outcome[1]]) == ""
        assert world.unexercised(NONE, outcome) == ""
        assert world.unexercised(TIERS, []) == ""


def test_a_configuration_that_cannot_be_run_is_refused_before_anything_runs(
    scenario: Scenario,
) -> None:
    small = scenario.model_copy(update={"engine": {"pool_pages": 4}})
    with EngineWorld(small, seed=0) as world, pytest.raises(Refused, match=r"^4 pages hold 1024"):
        world.probe(NONE, range(1))


def test_what_the_target_refuses_is_refused_and_a_broken_target_is_not(scenario: Scenario) -> None:
    with EngineWorld(scenario, seed=0) as world:
        with pytest.raises(Refused, match=r"^no two at once$"):
            world.probe(Config(levels=(("concurrency", 2),)), range(1))
        with pytest.raises(TargetError, match="did not start"):
            world.probe(Config(levels=(("concurrency", 4),)), range(1))


def test_remembered_trials_answer_and_only_the_others_run(scenario: Scenario) -> None:
    with EngineWorld(scenario, seed=7) as world:
        first = world.probe(BOTH, range(3))
    heard: list[tuple[Config, int]] = []
    known = {(BOTH, 1): replace(first[1], digest="remembered")}
    with EngineWorld(
        scenario, seed=7, told=lambda config, t: heard.append((config, t.index))
    ) as inner:
        world = Remembering(inner, known)
        again = world.probe(BOTH, range(3))
        assert again == (first[0], replace(first[1], digest="remembered"), first[2])
        assert heard == [(BOTH, 0), (BOTH, 2)]
        assert world.probe(BOTH, range(3)) == again  # nor does what it ran itself
    assert len(heard) == 2


def test_the_real_engine_gives_the_same_trials_to_one_job_and_to_two() -> None:
    scenario = parse_scenario(REAL, "real.yaml")
    with EngineWorld(scenario, seed=3) as alone, EngineWorld(scenario, seed=3, jobs=2) as two:
        here, there = alone.probe(NONE, range(1)), two.probe(NONE, range(1))
    assert [(it.sessions, it.verdict) for it in here] == [(1, "clean")]
    assert [replace(it, wall_s=0) for it in here] == [replace(it, wall_s=0) for it in there]
