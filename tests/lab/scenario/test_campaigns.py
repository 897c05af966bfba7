"""What a file tells `kvlab bisect` and `kvlab sweep`, and each mistake in it in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.errors import ScenarioError
from lab.scenario.idle import without_effect
from lab.scenario.loader import load_scenario, parse_scenario
from lab.scenario.models import Search
from lab.scenario.needs import cycle, needs
from tests.lab.scenario.files import CAMPAIGN, GOOD, write

GRAPH = "graph: {bad: true, good: false}"
MISTAKES = {
    "unknown toggle": ("index_k: {gr", "index: {gr", 12, "constraints.index: unknown", "'index_k'"),
    "unknown need": ("{graph: true}\n", "{grahp: true}\n", 12, "unknown key", "'graph'"),
    "not on offer": ("{graph: true}\n", "{overlap: true}\n", 12, "not on offer", "graph, pd"),
    "constrained, not on offer": ("index_k: {gr", "topk: {gr", 12, "topk: is not on offer", ""),
    "good value": ("{graph: true}\n", "{graph: false}\n", 12, "false is not the bad", "true"),
    "other value": ("{graph: true}\n", "{queue_size: 4}\n", 12, "4 is not the bad value", "8"),
    "no value": ("{graph: true}\n", "{graph: on}\n", 12, "'on' is not accepted", "did you mean"),
    "needs nothing": ("{graph: true}\n", "{}\n", 12, "no toggle that it needs", ""),
    "circle": (
        *("{graph: true}\n", "{graph: true}\n  graph: {index_k: bf16}\n", 12),
        *("constraints.index_k: a circle", "index_k needs graph needs index_k"),
    ),
    "circle with a toggle's own": (
        *("  index_k: {graph: true}\n", "  pd: {queue_size: 8}\n", 12),
        *("constraints.pd: a circle", "pd needs queue_size needs pd"),
    ),
    "itself": ("{graph: true}\n", "{index_k: bf16}\n", 12, "index_k needs index_k", ""),
    "unknown key": ("budget", "budgett", 14, "bisect.budgett: unknown key", "mean 'budget'"),
    "no budget": ("1500", "0", 14, "bisect.budget: 0 is not", "a whole number, at least 1"),
    "budget of text": ("1500", "much", 14, "'much' is not accepted", "at most 10000000"),
    "unknown unit": ("auto", "boots", 15, "bisect.unit: 'boots'", "session, boot, auto"),
    "no batch": ("unit: auto", "batch: 0", 15, "bisect.batch: 0", "at least 1, at most 1000"),
    "rate of all": ("unit: auto", "p_min: 1.5", 15, "bisect.p_min: 1.5", "from 0.0001 to 0.9"),
    "rate of none": ("unit: auto", "p_tol: 0", 15, "bisect.p_tol: 0", "from 0.0001"),
    "rate of nan": ("unit: auto", "p_tol: .nan", 15, "bisect.p_tol: nan", "from 0.0001"),
    "rates crossed": ("unit: auto", "p_min: 0.01", 15, "sought is 0.01", "p_min above p_tol"),
    "background": ("unit: auto", "p_tol: 0.3", 15, "bisect.p_tol: the smallest", "have 0.3"),
    "no error": ("unit: auto", "alpha: 0", 15, "bisect.alpha: 0 is not", "from 1e-06 to 0.2"),
    "unknown outcome": ("unit: auto", "outcome: wegded", 15, "'wegded'", "mean 'wedged'"),
    "paid to boot": ("unit: auto", "boot_cost: -1", 15, "bisect.boot_cost: -1", "from 0 to"),
    "weight of none": ("graph: 2.0", "graph: 0", 16, "weights.graph: 0", "from 0.01 to 100"),
    "unknown weight": ("graph: 2.0", "grap: 2", 16, "weights.grap: unknown", "mean 'graph'"),
    "idle weight": ("graph: 2.0", "topk: 2", 16, "bisect.weights.topk: is not on offer", ""),
    "ladder of words": (
        *("concurrency: [1, 2, 4, 8], w", "index_k: [fp8, bf16], w", 17),
        *("ladders.index_k: is not a number", "concurrency"),
    ),
    "ladder of a switch": ("concurrency: [1, 2, 4, 8], w", "graph: [true], w", 17, "number", ""),
    "below good": ("[1, 2, 4, 8], w", "[1, 16], w", 17, "ladders.concurrency.1: 16 does", "1 to 8"),
    "rung of text": ("[1, 2, 4, 8], w", "[1, two], w", 17, "concurrency.1: 'two' is", "at least 1"),
    "rung twice": ("[1, 2, 4, 8], w", "[1, 2, 2], w", 17, "concurrency.2: 2 is in", "twice"),
    "no rungs": ("[1, 2, 4, 8], w", "[], w", 17, "ladders.concurrency: is empty", ""),
    "no ladder": ("[1, 2, 4, 8], w", "3, w", 17, "ladders.concurrency: 3 is not accepted", ""),
    "ladder not on offer": (
        *("concurrency: [1, 2, 4, 8], w", "pool_pages: [32, 64], w", 17),
        *("ladders.pool_pages: is not on offer", "accepted: index_k, graph, pd"),
    ),
    "two knobs": ("[1, 2, 4, 8]}\n", "[1, 2], workers: [1, 2]}\n", 18, "one knob", ""),
    "one value": ("[1, 2, 4, 8]}\n", "[1]}\n", 18, "one value is no sweep", "at least 2"),
    "sweep of words": (
        "sweep: {concurrency: [1, 2, 4, 8]",
        "sweep: {topk: [v1, v2]",
        18,
        "num",
        "",
    ),
    "swept too far": ("[1, 2, 4, 8]}\n", "[1, 5000]}\n", 18, "sweep.concurrency.1: 5000", "4096"),
    "swept pool": ("{concurrency: [1, 2, 4, 8]}\n", "{pool_pages: [5, 64]}\n", 18, "5 pages", ""),
    "bad is good": ("bad: 8, good: 32", "bad: 8, good: 8", 8, "bad and good are both 8", ""),
    "idle when all is bad": (
        *("pd: {bad: true, good: false}", "overlap: {bad: true, good: false}", 8),
        *("queue_size: has no effect where every toggle is bad: pd is off", "pd: true"),
    ),
    "turned around": (
        *("pd: {bad: true, good: false}", "pd: {bad: false, good: true}", 8),
        *("queue_size: has no effect where every toggle is bad", ""),
    ),
    "bad is refused": (
        *("  index_k", "  pool_pages: {bad: 5, good: 64}\n  index_k", 5),
        *("toggles.pool_pages.bad: 5 pages", "at least"),
    ),
    "good is refused": (
        *("  index_k", "  pool_pages: {bad: 64, good: 5}\n  index_k", 5),
        *("toggles.pool_pages.good: 5 pages", "at least"),
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_told_in_one_line_at_its_own_line(case: str, tmp_path: Path) -> None:
    was, becomes, line, says, also = MISTAKES[case]
    assert was in CAMPAIGN
    path = write(tmp_path, CAMPAIGN.replace(was, becomes, 1))
    with pytest.raises(ScenarioError) as error:
        load_scenario(path)
    told = str(error.value)
    assert told.startswith(f"{path}:{line}: ")
    assert "\n" not in told
    assert says in told
    assert also in told


def test_a_file_without_arms_is_read_as_it_stands() -> None:
    scenario = parse_scenario(CAMPAIGN, "campaign.yaml")
    assert scenario.arms == ()
    assert scenario.constraints == {"index_k": {"graph": True}}
    assert scenario.sweep == {"concurrency": (1, 2, 4, 8)}
    assert scenario.bisect == Search(
        budget=1500,
        unit="auto",
        weights={"graph": 2.0, "pd": 1.5},
        ladders={"concurrency": (1, 2, 4, 8), "wire_gb_per_s": (1.0, 0.5)},
    )
    bad, good = (scenario.settings(end) for end in scenario.ends)
    assert (bad["index_k"], bad["queue_size"]) == ("bf16", 8)
    assert (good["index_k"], good["queue_size"]) == ("fp8", 32)


def test_a_file_without_these_keys_has_none() -> None:
    scenario = parse_scenario(GOOD, "good.yaml")
    assert (scenario.constraints, scenario.bisect, scenario.sweep) == ({}, Search(), {})


def test_needs_are_the_file_s_and_those_of_switches_on_offer() -> None:
    found = needs(parse_scenario(CAMPAIGN, "campaign.yaml"))
    pd = frozenset({"pd"})
    assert found == {"index_k": frozenset({"graph"}), "queue_size": pd, "wire_gb_per_s": pd}


def test_a_switch_that_is_always_on_is_no_need() -> None:
    always = CAMPAIGN.replace("  pd: {bad: true, good: false}\n", "").replace(", pd: 1.5", "")
    text = always.replace("radix: true", "pd: true")
    assert needs(parse_scenario(text, "campaign.yaml")) == {"index_k": frozenset({"graph"})}


def test_where_either_of_two_switches_will_do_none_is_needed() -> None:
    offered = "  hicache: {bad: true, good: false}\n  host_gb_per_s: {bad: 2.0, good: 55.0}\n"
    text = CAMPAIGN.replace("  graph:", f"{offered}  graph:", 1)
    either = text.replace("  pd:", "  hisparse: {bad: true, good: false}\n  pd:", 1)
    assert needs(parse_scenario(text, "one.yaml"))["host_gb_per_s"] == frozenset({"hicache"})
    assert "host_gb_per_s" not in needs(parse_scenario(either, "two.yaml"))


def test_a_circle_is_found_wherever_it_begins() -> None:
    abc = {"a": frozenset("b"), "b": frozenset("c"), "c": frozenset("b")}
    assert cycle(abc) == ("b", "c", "b")
    assert cycle({"a": frozenset("bc"), "b": frozenset("c")}) == ()


def test_what_only_an_end_of_the_bisection_reads_has_an_effect() -> None:
    text = CAMPAIGN.replace("radix: true", "waiting_timeout: 3.0, hicache_write: write_back")
    said = without_effect(parse_scenario(text, "campaign.yaml"))
    assert said == ["hicache_write has no effect: hicache is off"]  # and not: pd is off


@pytest.mark.parametrize(
    ("cut", "says"),
    [
        ("toggles:", "toggles: is missing; accepted: the toggles that bisection may flip"),
        ("toggles: constraints: bisect:", "GOOD"),
        ("toggles: constraints: bisect: sweep:", "arms: is missing; accepted: arms to run, or"),
    ],
)
def test_a_file_has_something_to_run(cut: str, says: str) -> None:
    text = without(CAMPAIGN, *cut.split())
    if says == "GOOD":
        assert parse_scenario(text, "campaign.yaml").ends == ()
        return
    with pytest.raises(ScenarioError, match=f"^campaign.yaml:1: {says}"):
        parse_scenario(text, "campaign.yaml")


def test_more_toggles_than_bisection_can_hold_are_refused() -> None:
    more = "".join(
        f"  {key}: {{bad: {bad}, good: {good}}}\n"
        for key, bad, good in [
            *[("chunked_prefill", 512, 1024), ("overlap", "true", "false"), ("topk", "v1", "v2")],
            *[("radix", "true", "false"), ("workers", 8, 32), ("waiting_timeout", 3.0, 9.0)],
            *[("bootstrap_timeout", 3.0, 9.0), ("metadata_slots", 32, 64), ("tp", 2, 1)],
            *[("stream_interval", 1, 2), ("allocator", "lifo", "fifo")],
        ]
    )
    text = CAMPAIGN.replace("constraints:", f"{more}constraints:", 1)
    with pytest.raises(ScenarioError, match=r"toggles.allocator: 17 toggles are too many"):
        parse_scenario(text, "campaign.yaml")


def without(text: str, *keys: str) -> str:
    """The text without these top-level keys and what they hold."""
    kept, dropping = [], False
    for line in text.splitlines(keepends=True):
        if not line.startswith(" "):
            dropping = line.startswith(keys)
        if not dropping:
            kept.append(line)
    return "".join(kept)
