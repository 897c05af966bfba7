"""Every mistake in a launch profile is one line with file, line, key and what is accepted."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.errors import ScenarioError
from lab.profiles import known, load_profile
from lab.profiles.loader import parse_profile

GOOD = """\
name: good
about: a server
status: "run: by this test"
params: {model: null, more: ""}
nodes:
  - name: server
    command: "serve {model} --port {port} {toggles*} {more*}"
    ready: {path: /health, timeout_s: 60}
endpoint: server
toggles:
  radix: {about: prefixes, type: switch, "off": [--no-radix], default: true}
  size: {about: a number, type: int, flag: --size, least: 1, default: 4}
  kind: {about: a name, type: choice, flag: --kind, choices: [a, b]}
readback:
  radix: {json: /info, key: off, reads: {true: false, false: true}}
  size: {log: "size=(\\\\d+)"}
exposure:
  counters: {hits_total: prefix_hits}
"""
MISTAKES = {
    "not YAML": ("about: a", "about: [", 3, "not YAML", ""),
    "another name": ("name: good", "name: bad", 1, "name: 'bad' is not the file's name", ""),
    "no status": ('"run: by this test"', "fine", 3, "status: 'fine' is not", "not run by us"),
    "unknown key": ("endpoint:", "endpiont:", 9, "endpiont: unknown key", "'endpoint'"),
    "no endpoint": ("endpoint: server\n", "", 1, "endpoint: is missing", ""),
    "another endpoint": ("endpoint: server", "endpoint: srever", 9, "'srever'", "'server'"),
    "unknown placeholder": ("{model}", "{modle}", 7, "nodes.0.command: 'modle'", "'model'"),
    "unknown words": ("{more*}", "{toggle*}", 7, "'toggle' is not known", "'toggles'"),
    "open quote": ("serve {model}", "serve 'x", 7, "is no command: no closing", ""),
    "port that is text": ("timeout_s: 60", "timeout_s: long", 8, "'long' is not", "a number"),
    "relative path": ("path: /health", "path: health", 8, "'health' is not", "begins with /"),
    "unknown type": ("type: int", "type: whole", 12, "'whole'", "switch, choice, int, float"),
    "toggle of the load": ("size: {about", "concurrency: {about", 12, "toggle of the load", ""),
    "toggle without words": ("flag: --size, ", "", 12, "has no 'flag' and no 'env'", ""),
    "choice without choices": (", choices: [a, b]", "", 13, "either 'values' or", ""),
    "default out of bounds": ("default: 4", "default: 0", 12, "0 is not accepted", "at least 1"),
    "words that are text": ("[--no-radix]", "--no-radix", 11, "'--no-radix'", "a list"),
    "toggle's key": ("least: 1", "min: 1", 12, "toggles.size.min: unknown key", "least"),
    "readback of nothing": ("radix: {json", "radixx: {json", 15, "'radixx'", "'radix'"),
    "two sources": ("key: off", "log: x", 15, "is either 'json' and 'key', or 'log'", ""),
    "step of a log": ('{log: "size', '{step: a, log: "size', 16, "are of a 'key', not", ""),
    "pattern without group": ("(\\\\d+)", "\\\\d+", 16, "must have one group", ""),
    "no pattern": ("(\\\\d+)", "(", 16, "is no regular expression", ""),
}


def mistaken(name: str) -> str:
    """The file with that mistake in it."""
    old, new, *_ = MISTAKES[name]
    assert old in GOOD
    return GOOD.replace(old, new, 1)


def test_a_good_profile_is_read() -> None:
    profile = parse_profile(GOOD, "good.yaml")
    assert {key: one.default for key, one in profile.toggles.items()} == {
        "radix": True,
        "size": 4,
        "kind": None,
    }
    assert profile.toggles["size"].domain.words == "a whole number, at least 1, at most 2147483647"
    assert profile.toggles["radix"].flag == "--no-radix"
    assert profile.params == {"model": None, "more": ""}
    assert profile.run_by_us


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_line(name: str) -> None:
    *_, line, what, accepted = MISTAKES[name]
    with pytest.raises(ScenarioError) as error:
        parse_profile(mistaken(name), "some/good.yaml")
    told = str(error.value)
    assert told.startswith(f"some/good.yaml:{line}: ")
    assert what in told
    assert accepted in told
    assert "\n" not in told


def test_a_file_that_is_no_mapping_is_no_launch_profile() -> None:
    with pytest.raises(ScenarioError, match=r"x\.yaml:1: a launch profile is a mapping of keys"):
        parse_profile("", "x.yaml")


def test_a_name_that_is_not_known_has_a_near_one() -> None:
    with pytest.raises(ScenarioError, match=r"no launch profile 'vlm'.*did you mean 'vllm'"):
        load_profile("vlm")


def test_a_file_is_a_profile_too(tmp_path: Path) -> None:
    path = tmp_path / "good.yaml"
    path.write_text(GOOD, encoding="utf-8")
    assert load_profile(path).name == "good"
    with pytest.raises(ScenarioError, match="No such file"):
        load_profile(tmp_path / "absent.yaml")


def test_a_profile_of_this_folder_stands_before_the_shipped_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "scenarios" / "profiles" / "vllm.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(GOOD.replace("name: good", "name: vllm"), encoding="utf-8")
    assert load_profile("vllm").about == "a server"
    assert "sglang" in known()
