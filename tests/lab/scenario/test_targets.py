"""`target:` in a scenario file: what it may be, and what the rest of the file may then say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jsonschema
import pytest
from ruamel.yaml import YAML

from lab.bisecting.space_of import ladders_of
from lab.errors import ScenarioError
from lab.scenario.catalog import check_files
from lab.scenario.idle import without_effect
from lab.scenario.loader import load_scenario, parse_scenario
from lab.scenario.pairs import pair
from lab.scenario.schema import schema
from lab.scenario.sweeping import swept
from lab.scenario.target import target_of
from lab.targets.spec import THE_BUNDLED, TargetSpec
from tests.lab.scenario.files import GOOD
from tests.lab.scenario.servers import SERVED, profile, served

if TYPE_CHECKING:
    from pathlib import Path

URL = "http://127.0.0.1:30000"
AT_A_URL = f"""\
name: anywhere
target: {URL}/v1
workload: {{kind: tool_sessions, preset: small}}
arms:
  - {{name: eight at once, concurrency: 8}}
"""
CAP = "2: target.max_requests_per_s: "
KEYED = f"{{base_url: {URL}, model: qwen, api_key_env: SHOP_KEY}}"


def refused(path: Path) -> str:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(f"{path}:")


def at_a_url(was: str, becomes: str) -> str:
    assert was in AT_A_URL
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(AT_A_URL.replace(was, becomes, 1), "url.yaml")
    return str(caught.value).removeprefix("url.yaml:")


def test_without_a_target_the_engine_in_this_process_is_meant() -> None:
    found = parse_scenario(GOOD.replace("target: bundled\n", ""), "good.yaml")
    assert found.target == THE_BUNDLED and found.clock == "virtual"


@pytest.mark.parametrize("text", [URL, f"{URL}/", f"{URL}/v1", f"{URL}/v1/"])
def test_a_url_means_the_same_with_and_without_its_version(text: str) -> None:
    assert target_of(text) == TargetSpec("url", URL)


def test_a_server_s_model_and_the_variable_of_its_key_stand_beside_its_url() -> None:
    found = parse_scenario(AT_A_URL.replace(f"{URL}/v1", KEYED), "url.yaml").target
    assert (found.model, found.api_key_env) == ("qwen", "SHOP_KEY")
    assert target_of(found.document()) == found


def test_how_a_url_forgets_and_what_it_is_spared_stand_beside_it() -> None:
    beside = f"{{base_url: {URL}, flush: /flush_cache, max_requests_per_s: 2.5}}"
    found = parse_scenario(AT_A_URL.replace(f"{URL}/v1", beside), "url.yaml").target
    assert (found.flush, found.max_requests_per_s) == ("/flush_cache", 2.5)
    assert target_of(found.document()) == found


def test_a_url_s_arms_set_the_load_and_go_by_the_wall_s_clock() -> None:
    found = parse_scenario(AT_A_URL, "url.yaml")
    assert found.clock == "wall"
    settings = found.settings(found.arms[0])
    assert settings == {"abort_rate": 0.0, "arrival_rate": 0.0, "concurrency": 8}


def test_a_profile_s_arms_set_its_toggles_and_the_load(tmp_path: Path) -> None:
    found = load_scenario(served(tmp_path))
    assert found.target.kind == "profile" and found.target.params == {"model_path": "/models/tiny"}
    settings = found.settings(found.arms[1])
    assert (settings["prefix_caching"], settings["max_num_seqs"]) == (False, None)
    assert settings["concurrency"] == 4 and "hicache" not in settings


def test_a_preset_s_engine_is_not_meant_for_a_stranger_s(tmp_path: Path) -> None:
    path = served(tmp_path, "max_num_seqs: {bad: 16, good: 1}", "pool_pages: {bad: 16, good: 1}")
    shop = profile(tmp_path)
    text = shop.read_text(encoding="utf-8").replace("max_num_seqs:", "pool_pages:")
    shop.write_text(text, encoding="utf-8")
    found = load_scenario(path)
    assert found.settings(found.arms[0])["pool_pages"] is None


def test_a_profile_s_numbers_have_ladders_and_sweeps(tmp_path: Path) -> None:
    found = load_scenario(served(tmp_path))
    assert ladders_of(found) == {"max_num_seqs": (1, 2, 4, 8, 16)}
    arms = swept(found, "max_num_seqs=1..4").arms
    assert [arm.overrides for arm in arms] == [{"max_num_seqs": n} for n in (1, 2, 4)]


def test_two_values_of_a_profile_s_toggle_are_a_pair(tmp_path: Path) -> None:
    arms = pair(load_scenario(served(tmp_path)), (), "kv_dtype=fp8,auto").arms
    assert [arm.overrides["kv_dtype"] for arm in arms] == ["fp8", "auto"]
    with pytest.raises(ScenarioError, match=r"unknown key 'kv_dtipe'; .*mean 'kv_dtype'"):
        pair(load_scenario(served(tmp_path)), (), "kv_dtipe=fp8,auto")


@pytest.mark.parametrize(
    ("was", "becomes", "says"),
    [
        ("prefix_caching: true", "prefix_cashing: true", "did you mean 'prefix_caching'"),
        ("prefix_caching: true", "prefix_caching: 1", "accepted: true, false"),
        ("prefix_caching: true", "hicache: true", "4: engine.hicache: unknown key"),
        ("prefix_caching: false", "kv_dtype: fp9", "did you mean 'fp8'"),
        ("bad: 16", "bad: 1600", "11: toggles.max_num_seqs.bad: 1600 is not accepted"),
        ("kv_dtype: {bad", "graph: {bad", "12: toggles.graph: unknown key"),
        ("name: served", "name: served\nbuild: [overlap_row_shift]", "2: build: "),
        ("name: served", "name: served\nclock: virtual", "2: clock: "),
        ("model_path: /", "model_pat: /", "did you mean 'model_path'"),
        (", model_path: /models/tiny", "", "2: target: shop needs model_path; accepted: {prof"),
        ("/models/tiny", "[a]", "2: target.model_path: a list is not accepted"),
        ("PROFILE", "sglnag", "2: target.profile: 'sglnag' is not accepted"),
        ("preset: small", "preset: small, only: [99]", "3: workload: "),
    ],
)
def test_a_mistake_over_a_profile_is_one_line(
    was: str, becomes: str, says: str, tmp_path: Path
) -> None:
    assert says in refused(served(tmp_path, was, becomes))


@pytest.mark.parametrize(
    ("was", "becomes", "says"),
    [
        (f"{URL}/v1", "http://", "2: target: is no base URL of a server; accepted: http://host"),
        (f"{URL}/v1", "[a]", "2: target: a list is not accepted; accepted: bundled, http://"),
        (f"{URL}/v1", "{model: m}", "2: target: names no server; accepted: base_url: http://"),
        (f"{URL}/v1", f"{{base_url: {URL}, key: m}}", "2: target.key: unknown key"),
        (f"{URL}/v1", f"{{base_url: {URL}, model: 3}}", "2: target.model: 3 is not accepted"),
        (f"{URL}/v1", "{base_url: 3}", "2: target.base_url: 3 is not accepted; accepted: text"),
        ("arms:", "engine: {hicache: true}\narms:", "4: engine.hicache: unknown key"),
        (
            f"{URL}/v1",
            f"{{base_url: {URL}, max_requests_per_s: 0}}",
            f"{CAP}0 is not accepted; accepted: a number above 0",
        ),
        (
            f"{URL}/v1",
            f"{{base_url: {URL}, max_requests_per_s: true}}",
            f"{CAP}true is not accepted",
        ),
        (f"{URL}/v1", f"{{base_url: {URL}, flush: flush_cache}}", "2: target.flush: 'flush_cache'"),
        ("arms:", "toggles: {graph: {bad: true, good: false}}\narms:", "4: toggles.graph: unkn"),
    ],
)
def test_a_mistake_over_a_url_is_one_line(was: str, becomes: str, says: str) -> None:
    assert at_a_url(was, becomes).startswith(says)


@pytest.mark.parametrize(
    "target",
    [
        f"{{base_url: {URL}, api_key_env: sk-sesame}}",
        "http://me:sesame@127.0.0.1:30000",
        f"{{base_url: '{URL}?key=sesame'}}",
    ],
)
def test_a_key_that_stands_in_the_file_is_refused_and_not_repeated(target: str) -> None:
    assert "sesame" not in at_a_url(f"{URL}/v1", target)


def test_a_mistake_in_a_profile_is_told_of_the_profile(tmp_path: Path) -> None:
    path = served(tmp_path)
    shop = profile(tmp_path)
    text = shop.read_text(encoding="utf-8").replace("endpoint: server", "endpoint: sever")
    shop.write_text(text, encoding="utf-8")
    assert f"{shop}:8: endpoint" in refused(path)


def test_scenario_check_knows_what_a_profile_adds(tmp_path: Path) -> None:
    good, wrong = check_files([served(tmp_path)]) + check_files([served(tmp_path, "auto}", "no}")])
    assert good.problem == "" and "kv_dtype.good" in wrong.problem


def test_the_schema_takes_other_targets_and_leaves_their_keys_to_the_check() -> None:
    read = YAML(typ="safe").load
    for text in (SERVED, AT_A_URL, AT_A_URL.replace(f"{URL}/v1", KEYED)):
        jsonschema.validate(read(text), schema())
    for was, becomes in [
        ("concurrency: 4", "concurrency: 0"),
        ("model_path: /models/tiny", "model_path: [a]"),
        ("engine:", "clock: virtual\nengine:"),
        ("engine:", "motor:"),
    ]:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(read(SERVED.replace(was, becomes, 1)), schema())


def test_a_load_that_only_our_model_follows_is_noted_of_other_servers(tmp_path: Path) -> None:
    (note,) = without_effect(parse_scenario(AT_A_URL, "url.yaml"))
    assert note.startswith("workload tool_sessions: its manuals are followed by the bundled model")
    assert without_effect(load_scenario(served(tmp_path))) == [note]
    asked = AT_A_URL.replace("tool_sessions", "tool_tasks")
    assert without_effect(parse_scenario(asked, "url.yaml")) == []
    assert without_effect(parse_scenario(GOOD, "good.yaml")) == []


def test_a_load_in_plain_words_is_refused_where_our_engine_is_launched() -> None:
    text = AT_A_URL.replace(f"{URL}/v1", "kvlab_serve").replace("tool_sessions", "tool_tasks")
    with pytest.raises(ScenarioError, match="3: workload: the bundled model only follows"):
        parse_scenario(text, "url.yaml")
    manual = text.replace("preset: small", "preset: small, form: manual")
    assert parse_scenario(manual, "url.yaml").target.takes_build


@pytest.mark.parametrize(
    ("load", "says"),
    [
        ("{kind: tool_tasks, data: gone}", "no folder gone; accepted: shipped, or a folder with"),
        ("{kind: replay, data: gone}", "no file gone; accepted: a trace of JSON lines"),
    ],
)
def test_data_that_is_not_there_is_a_line_of_the_file_once_it_is_run(load: str, says: str) -> None:
    text = AT_A_URL.replace("{kind: tool_sessions, preset: small}", load)
    assert parse_scenario(text, "url.yaml").workload.kind in load
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(text, "url.yaml", here=True)
    assert str(caught.value).startswith(f"url.yaml:3: workload.data: {says}")
