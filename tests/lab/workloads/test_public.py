"""Public tools in manuals: which the bundled model can follow, and that it does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.config import ModelConfig
from lab.errors import ScenarioError, UserError
from lab.judging import judge_arm
from lab.scenario.loader import parse_scenario
from lab.trial import run_arm
from lab.workloads import resolve
from lab.workloads.public import manual_tools

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
TAKEN = {
    "mv": {"source": TEXT, "destination": TEXT},
    "grep": {"file_name": TEXT, "pattern": TEXT},
    "wc": {"file_name": TEXT, "mode": TEXT},
}
REFUSED = {
    "diff": {"file_name1": TEXT, "file_name2": TEXT},  # the model takes one for the other
    "pay": {"card": TEXT, "amount": NUMBER},
    "tell": {"whom": TEXT, "how": {"type": "string", "enum": ["a", "b"]}},
    "ls": {"path": TEXT},
    "find": {"path": TEXT, "name": TEXT, "depth": TEXT},
    "a_name_of_13c": {"path": TEXT, "name": TEXT},
    "send": {"receiver_of_the_message": TEXT, "message": TEXT},
}


def collection(folder: Path) -> str:
    """A folder with these tools, as BFCL spells them."""
    lines = [
        json.dumps({"name": name, "parameters": {"type": "dict", "properties": it, "required": []}})
        for name, it in {**TAKEN, **REFUSED}.items()
    ]
    (folder / "tools.json").write_text("\n".join(lines))
    return str(folder)


def test_a_manual_calls_tools_of_two_free_texts_that_begin_otherwise(tmp_path: Path) -> None:
    assert sorted(manual_tools(collection(tmp_path))) == sorted(TAKEN)


def test_a_collection_without_such_a_tool_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(
        '{"name": "x", "parameters": {"type": "dict", "properties": {}}}'
    )
    with pytest.raises(UserError, match="takes two free texts and nothing else"):
        manual_tools(str(tmp_path))


def test_sessions_of_a_group_share_tools_and_entries_and_more_change_none(tmp_path: Path) -> None:
    given = {"data": collection(tmp_path), "form": "manual", "groups": 2}
    few, many = (resolve("tool_tasks", "small", {**given, "sessions": n}).plan(0) for n in (4, 7))
    assert few == many[:4]
    first, _, second, _ = few
    assert first.tools == second.tools and len(first.tools) == len(TAKEN)
    shared = first.system.partition(first.secrets[0])[0]
    assert second.system.startswith(shared[:600])
    for turn in first.turns:
        assert turn.expected_call["name"] in TAKEN and turn.expected_text


def test_the_longest_conversation_of_every_preset_fits(tmp_path: Path) -> None:
    given = {"data": collection(tmp_path), "form": "manual"}
    for preset in ("reference", "small", "burst", "campaign"):
        load = resolve("tool_tasks", preset, given)
        assert load.longest_context() <= ModelConfig().max_context


def test_entries_that_look_alike_need_more_selected_groups(tmp_path: Path) -> None:
    load = f"{{kind: tool_tasks, preset: small, form: manual, data: {collection(tmp_path)}}}"
    with pytest.raises(ScenarioError, match=r"index_topk is 16: too few .* accepted: at least 18"):
        parse_scenario(f"name: x\nworkload: {load}\narms: [{{name: a}}]\n", "x.yaml")


def test_the_bundled_engine_makes_every_call(tmp_path: Path) -> None:
    load = f"{{kind: tool_tasks, preset: small, form: manual, data: {collection(tmp_path)}}}"
    text = f"name: x\nworkload: {load}\nengine: {{index_topk: 18}}\narms: [{{name: a}}]\n"
    scenario = parse_scenario(text, "x.yaml")
    history = run_arm(scenario, scenario.arms[0], 0)
    assert judge_arm(history)[0].verdict == "clean"
    assert {it.tool_calls[0]["function"]["name"] for it in history.replies} <= {*TAKEN}
