"""`kvlab scenario new`: what it writes is a scenario that passes, and nothing is overwritten."""

from __future__ import annotations

import io
import re
import sys
from typing import TYPE_CHECKING

import pytest

from lab.scenario.loader import load_scenario

if TYPE_CHECKING:
    from pathlib import Path

URL = "http://127.0.0.1:30000"
COMMENTED = re.compile(r"^# ?((?:toggles|sweep|expect|build):.*|  .*)$", re.MULTILINE)


@pytest.mark.parametrize(
    "argv",
    [
        (),
        ("--build", "padded_scatter_stale_slots", "--toggle", "index_k=bf16,fp8"),
        ("--target", URL, "--arm", "sixteen, at once: concurrency=16", "--sessions", "16"),
        ("--target", "vllm", "--param", "model_path=/models/tiny", "--about", "a: b"),
        ("--target", "kvlab_serve", "--preset", "campaign"),
    ],
)
def test_what_is_written_passes_the_check_with_and_without_its_comments(
    argv: tuple[str, ...], kvlab, folder: Path
) -> None:
    said = kvlab("scenario", "new", "--name", "mine", *argv)
    assert said.code == 0 and "mine.yaml: written; `kvlab scenario explain mine.yaml`" in said.err
    assert kvlab("scenario", "check", "mine.yaml").code == 0
    text = (folder / "mine.yaml").read_text(encoding="utf-8")
    (folder / "mine.yaml").write_text(COMMENTED.sub(r"\1", text), encoding="utf-8")
    assert kvlab("scenario", "check", "mine.yaml").err.startswith("mine.yaml: ok")


@pytest.mark.parametrize("kind", ["determinism", "tool_tasks"])
def test_a_load_that_has_another_form_for_other_models_is_written_in_the_target_s_own(
    kind: str, kvlab, folder: Path
) -> None:
    for name, target in (("ours", "bundled"), ("theirs", URL)):
        argv = ("--name", name, "--workload", kind, "--target", target)
        assert kvlab("scenario", "new", *argv).code == 0
    forms = [load_scenario(folder / f"{it}.yaml").workload.options for it in ("ours", "theirs")]
    assert forms[0]["form"] == "manual" and "form" not in forms[1]


def test_only_loads_that_the_target_can_follow_are_listed(kvlab, folder: Path) -> None:
    kvlab("scenario", "new", "--name", "ours")
    kvlab("scenario", "new", "--name", "theirs", "--target", URL)
    (ours,), (theirs,) = (
        re.findall("^# kinds that this target can follow: (.*)$", text, re.MULTILINE)
        for text in ((folder / f"{it}.yaml").read_text("utf-8") for it in ("ours", "theirs"))
    )
    assert "tool_sessions" in ours and "probe_sessions" not in ours
    assert "tool_sessions" not in theirs and "probe_sessions" in theirs


def test_what_it_is_about_is_left_blank_where_nobody_said(kvlab, folder: Path) -> None:
    kvlab("scenario", "new", "--name", "mine")
    assert load_scenario(folder / "mine.yaml").about == ""
    assert 'about: "" # what it asks' in (folder / "mine.yaml").read_text("utf-8")


def test_the_options_are_what_the_file_says(kvlab, folder: Path) -> None:
    flags = ["--toggle", "graph=true,false", "--toggle", "concurrency=8,1", "--sessions", "5"]
    arms = ["--arm", "as it is", "--arm", "eager, fp8: graph=false, index_k=fp8"]
    assert kvlab("scenario", "new", "--name", "mine", *flags, *arms).code == 0
    found = load_scenario(folder / "mine.yaml")
    assert [(arm.name, arm.overrides) for arm in found.arms] == [
        ("as it is", {}),
        ("eager, fp8", {"graph": False, "index_k": "fp8"}),
    ]
    assert {key: (it.bad, it.good) for key, it in found.toggles.items()} == {
        "graph": (True, False),
        "concurrency": (8, 1),
    }
    assert found.workload.sessions == 5


def test_it_goes_into_the_folder_of_scenarios_and_finds_the_schema_from_there(
    kvlab, folder: Path
) -> None:
    (folder / "scenarios").mkdir()
    (folder / "scenarios" / "schema.json").write_text("{}", encoding="utf-8")
    kvlab("scenario", "new", "--name", "mine")
    kvlab("scenario", "new", "scenarios/a/deep/one.yaml", "--name", "mine")
    first = [
        (folder / "scenarios" / name).read_text(encoding="utf-8").splitlines()[0]
        for name in ("mine.yaml", "a/deep/one.yaml")
    ]
    assert first == [
        "# yaml-language-server: $schema=schema.json",
        "# yaml-language-server: $schema=../../schema.json",
    ]
    assert kvlab("scenario", "explain", "mine").code == 0


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--name", "good"], "good.yaml: is there already"),
        (["--name", "Mine!"], "--name Mine!: no name of a scenario"),
        ([], "--name: is missing"),
        (["--name", "m", "--toggle", "graf=true,false"], "--toggle graf=true,false: toggles.graf"),
        (["--name", "m", "--toggle", "graph"], "--toggle graph: 'graph' is not accepted"),
        (["--name", "m", "--arm", "a: radix=maybe"], "--arm 'a: radix=maybe': arms.0.radix"),
        (["--name", "m", "--arm", "a: radix"], "accepted: NAME: KEY=VALUE, ..."),
        (["--name", "m", "--target", "vlm"], "(did you mean 'vllm'?)"),
        (["--name", "m", "--target", "vllm"], "vllm needs model_path"),
        (["--name", "m", "--target", "vllm", "--param", "a"], "--param a: 'a' is not accepted"),
        (["--name", "m", "--workload", "tool_sesions"], "(did you mean 'tool_sessions'?)"),
        (["--name", "m", "--preset", "smal"], "(did you mean 'small'?)"),
        (["--name", "m", "--build", "nope"], "--build nope: build.0: unknown defect"),
        (["--name", "m", "--target", URL, "--build", "metadata_slot_not_checked"], "no build"),
    ],
)
def test_a_mistake_is_one_line_of_the_option_and_nothing_is_written(
    argv: list[str], says: str, kvlab, folder: Path
) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    said = kvlab("scenario", "new", *argv)
    assert (said.code, said.out) == (2, "") and said.err.count("\n") == 1
    assert says in said.err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


class Terminal(io.StringIO):
    """Somebody who answers."""

    def isatty(self) -> bool:
        return True


def test_at_a_terminal_it_asks_for_what_a_scenario_needs(
    kvlab, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = ["mine", "does the cache forget", "vllm", "/models/x", "prefix_caching=true,false"]
    monkeypatch.setattr(sys, "stdin", Terminal("\n".join(answers) + "\n"))
    assert kvlab("scenario", "new").code == 0
    found = load_scenario(folder / "mine.yaml")
    assert (found.about, found.target.name) == ("does the cache forget", "vllm")
    assert found.target.params == {"model_path": "/models/x"}
    assert list(found.toggles) == ["prefix_caching"]
