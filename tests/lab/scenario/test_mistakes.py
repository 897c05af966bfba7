"""Every mistake in a scenario file is one line with file, line, key and what is accepted."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.errors import ScenarioError
from lab.scenario.loader import load_scenario
from lab.scenario.patches import parse_set
from tests.lab.scenario.files import broken, write

MISTAKES = {
    "unknown toggle": ("graph: true, c", "grahp: true, c", 7, "engine.grahp: unknown key", "graph"),
    "toggle of no engine": ("concurrency: 60", "dp: true", 7, "unknown key", "index_k"),
    "misspelt value": ("index_k: bf16", "index_k: bf61", 7, "engine.index_k: 'bf61'", "fp8, bf16"),
    "on is text": ("graph: true", "graph: on", 7, "'on' is not accepted", "did you mean 'true'"),
    "null": ("concurrency: 60", "concurrency: null", 7, "null is not accepted", "at least 1"),
    "half a session": ("concurrency: 60", "concurrency: 1.5", 7, "1.5 is not", "a whole number"),
    "odd chunk": ("concurrency: 60", "chunked_prefill: 300", 7, "300 is not", "multiple of 256"),
    "negative rate": ("concurrency: 60", "arrival_rate: -1", 7, "-1 is not", "0, or from"),
    "slow arrivals": ("concurrency: 60", "arrival_rate: 1e-300", 7, "1e-300 is not", "from 0.001"),
    "endless pauses": ("sessions: 60", "think_s: .inf", 6, "workload.think_s: inf", "1000000"),
    "no pauses": ("sessions: 60", "think_s: .nan", 6, "workload.think_s: nan", "1000000"),
    "endless patience": ("sessions: 60", "timeout_s: 1e300", 6, "timeout_s: 1e+300", "1000000"),
    "pool of floats": ("concurrency: 60", "pool_pages: 1e20", 7, "pool_pages: 1e+20", "65536"),
    "huge pool": ("concurrency: 60", "pool_pages: 2000000000", 7, "2000000000 is not", "65536"),
    "huge graphs": ("concurrency: 60", "graph_max_bs: 1000000000", 7, "1000000000 is", "4096"),
    "crowd": ("concurrency: 60", "concurrency: 5000", 7, "5000 is not", "at most 4096"),
    "huge seed": ("target:", "seed: 99999999999999999999\ntarget:", 5, "seed: 9999", "at most"),
    "certain departure": ("concurrency: 60", "abort_rate: 2", 7, "2 is not", "from 0 to 1"),
    "unknown key": ("workload:", "workloat:", 6, "workloat: unknown key", "'workload'"),
    "duplicate key": ("target:", "name:", 5, "duplicate key", "name"),
    "tab": ("target:", "\ttarget:", 5, "not YAML", "\\t"),
    "no sessions": ("sessions: 60", "sessions: 0", 6, "workload.sessions: 0", "at least 1"),
    "text for a pause": (
        *("sessions: 60", "think_s: long", 6, "workload.think_s: 'long' is not"),
        "accepted: a number, at least 0, at most 1000000",
    ),
    "no patience": (
        *("sessions: 60", "timeout_s: 0", 6, "workload.timeout_s: 0 is not"),
        "accepted: a number, more than 0, at most 1000000",
    ),
    "half a turn": (
        *("sessions: 60", "turns: 1.5", 6, "workload.turns: 1.5 is not"),
        "accepted: a whole number, at least 1, at most 64",
    ),
    "unknown preset": ("reference", "referense", 6, "workload.preset", "did you mean 'reference'"),
    "unknown load": ("tool_sessions", "tool_sesions", 6, "workload.kind", "'tool_sessions'"),
    "another load's key": (
        *("sessions: 60", "burst: 2", 6, "workload.burst: unknown key"),
        "accepted: abort_within_s, cancels, groups, kind",
    ),
    "more turns than entries": ("sessions: 60", "turns: 40", 6, "40 turns use", ""),
    "context too long": ("sessions: 60", "max_tokens: 4000", 6, "the model's context is 8192", ""),
    "pool too small": ("concurrency: 60", "pool_pages: 5", 7, "engine.pool_pages: 5", "at least"),
    "an arm's pool": ("concurrency: 1,", "pool_pages: 9,", 11, "arms.2.pool_pages", "at least"),
    "duplicate arm": ('"fp8, graph on"', '"bf16, graph on"', 10, "names arm 0 already", ""),
    "arm without name": ('name: "fp8, graph on", ', "", 10, "arms.1.name: is missing", ""),
    "empty name": ("name: good", "name: ''", 2, "name: '' is not accepted", "text"),
    "arm called star": ('"fp8, graph on"', '"*"', 10, "stands for every other arm", ""),
    "arm that is text": ('{name: "bf16, graph on"}', "hello", 9, "arms.0: 'hello'", "a mapping"),
    "no arms": ("arms:", "arms: []\nx:", 8, "arms: is empty", "at least 1"),
    "bad is good": ("bad: bf16", "bad: fp8", 13, "bad and good are both 'fp8'", ""),
    "half a toggle": ("{bad: true, good: false}", "{bad: true}", 14, "graph.good: is miss", "true"),
    "unknown arm": (
        '"bf16, graph on": ',
        '"bf16 graph on": ',
        16,
        "no arm has",
        "'bf16, graph on'",
    ),
    "unknown verdict": ("verdict: clean", "verdict: cleen", 17, "expect.*.verdict", "'clean'"),
    "unknown defect": ("[padded", "[paded", 4, "unknown defect 'paded_", "did you mean 'padded"),
    "defect twice": ("stale_slots]", "stale_slots, padded_scatter_stale_slots]", 4, "twice", ""),
    "unknown clock": ("target:", "clock: wal\ntarget:", 5, "clock: 'wal' is not", "'wall'"),
    "unknown device": ("graph: true", "device: cda", 7, "engine.device: 'cda' is", "'cuda'"),
    "unknown target": ("bundled", "bundeld", 5, "target: 'bundeld' is not", "'bundled'"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_told_in_one_line_at_its_own_line(case: str, tmp_path: Path) -> None:
    was, becomes, line, says, also = MISTAKES[case]
    path = broken(tmp_path, was, becomes)
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:{line}: ")
    assert says in message and also in message
    assert "\n" not in message and "pydantic" not in message


def test_a_tag_is_read_as_text_and_makes_nothing(tmp_path: Path) -> None:
    path = broken(tmp_path, "name: good", "name: !!python/object:os.system x")
    assert load_scenario(path).name == "x"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "this file holds nothing"),
        ("[1, 2]", "this file holds a list"),
        ("hello", "this file holds 'hello'"),
        ("a: b: c", "not YAML"),
        ("{", "not YAML"),
        ("\x00\x01", "not YAML"),
        ("a: 1\n---\nb: 2", "not YAML"),
    ],
)
def test_what_is_no_mapping_is_told_in_one_line(text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(write(tmp_path, text))
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_a_file_that_is_not_text_is_told(tmp_path: Path) -> None:
    path = tmp_path / "bytes.yaml"
    path.write_bytes(b"\xff\xfe\x00a")
    with pytest.raises(ScenarioError, match="not UTF-8 text"):
        load_scenario(path)


def test_a_directory_is_told(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="is a directory"):
        load_scenario(tmp_path)


def test_a_missing_file_is_told_with_the_nearest_scenario(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scenarios").mkdir()
    write(tmp_path / "scenarios")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioError, match=r"goot: no such file \(did you mean 'scenarios/good"):
        load_scenario(Path("goot"))


def test_a_name_that_is_only_begun_means_what_needs_no_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioError, match=r"incidents/padded_scatter_stale_slots\.yaml'\?\)"):
        load_scenario(Path("padded_scater"))


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("engine.radx=false", "engine.radx: unknown key"),
        ("radix=false", "did you mean 'engine.radix'"),
        ("arms.0.graph=maybe", "accepted: true, false"),
        ("arms.9.graph=true", "a position from 0 to 2"),
        ("arms.x.graph=true", "a position from 0 to 2"),
        ("name.x=1", "holds no keys"),
        ("engine", "not a patch"),
        ("=1", "not a patch"),
        ("a..b=1", "not a patch"),
        ("engine.radix={", "the value is not YAML"),
        ("engine.radix=true,engine.graph=false", "repeat --set for the next: --set engine.graph="),
        ("engine.radix=true, graph=false", "one key and its value; repeat --set"),
        ("workload.sessions=-1", "-1 is not accepted"),
        ("engine=3", "accepted: a mapping"),
        ("seed=-3", "-3 is not accepted"),
        ("engine.pool_pages=2", "one conversation can reach"),
        ("engine.index_topk=36", "a healthy engine would miss entries; accepted: at least 37"),
    ],
)
def test_a_mistake_in_an_option_names_the_option(option: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(write(tmp_path), [option])
    assert str(caught.value).startswith(f"--set {option}: ")
    assert says in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["about=a,b=c", "arms.0.name=graph=true, index_k=fp8"])
def test_a_comma_in_free_text_begins_no_second_patch(text: str) -> None:
    assert parse_set(text).value == text.partition("=")[2]


def test_commas_of_a_mapping_begin_no_second_patch() -> None:
    assert parse_set("toggles.graph={bad: true, good: false}").keys == ("toggles", "graph")


def test_each_kind_of_load_states_its_own_bounds(tmp_path: Path) -> None:
    path = broken(tmp_path, "{kind: tool_sessions,", "{kind: a_flood_a, turns: 1,")
    with pytest.raises(ScenarioError, match=r"turns: 1 is not accepted; accepted: .* at least 2"):
        load_scenario(path)
