"""Public tool schemas, read and drawn from; the small collections here are made up."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from engine.text.schema import violation
from lab.errors import UserError
from lab.workloads.arguments import arguments, askable
from lab.workloads.public import OFFERED, manual_tools
from lab.workloads.schemas import SHIPPED, read_tools, schema

BFCL = {
    "name": "math.mean",
    "description": "The mean.",
    "parameters": {
        "type": "dict",
        "properties": {
            "values": {"type": "array", "items": {"type": "float", "description": "one"}},
            "label": {"type": "string", "default": "x"},
            "box": {"type": "dict", "properties": {"deep": {"type": "float"}}},
        },
        "required": ["label", "gone"],
    },
    "response": {"type": "dict"},
}
OPENAI = {
    "type": "function",
    "function": {
        "name": "cancel",
        "parameters": {
            "type": "object",
            "properties": {"why": {"type": "string", "enum": ["late", "wrong"]}},
            "required": ["why"],
        },
    },
}


def collection(folder: Path) -> str:
    """A folder with a file of each kind, and one that holds no tools."""
    (folder / "sub").mkdir()
    task = {"id": 1, "function": [BFCL | {"name": "other"}], "question": "?"}
    (folder / "a.json").write_text(json.dumps(BFCL) + "\n" + json.dumps(task) + "\n")
    (folder / "sub" / "b.json").write_text(json.dumps([OPENAI, OPENAI]))
    (folder / "c.json").write_text('[{"id": "a task", "answer": ["x"]}, 3]')
    return str(folder)


def test_tools_of_every_format_come_out_in_openai_s_shape(tmp_path: Path) -> None:
    cancel, mean, other = read_tools(collection(tmp_path))
    assert [t["function"]["name"] for t in (cancel, mean, other)] == [
        "cancel",
        "math_mean",
        "other",
    ]
    parameters = mean["function"]["parameters"]
    assert parameters["type"] == "object"
    assert parameters["required"] == ["label"]
    assert parameters["properties"]["values"]["items"]["type"] == "number"
    assert parameters["properties"]["box"]["properties"]["deep"] == {"type": "number"}
    assert {*mean["function"]} == {"name", "description", "parameters"}


def test_a_hundred_tools_ship_of_which_most_can_be_asked_for() -> None:
    tools = [tool["function"] for tool in read_tools(SHIPPED)]
    assert len({tool["name"] for tool in tools}) == 100
    assert all(tool["description"] for tool in tools)
    assert sum(askable(tool["parameters"]) for tool in tools) > 90
    assert len(manual_tools(SHIPPED)) >= 2 * OFFERED


@pytest.mark.parametrize("given", [None, {}, {"type": "any"}, {"type": ["string", "null"]}])
def test_what_cannot_be_said_in_json_schema_is_left_out(given: object) -> None:
    assert schema(given) is None
    assert schema({"type": "dict", "properties": {"x": given}}) is None
    assert schema({"type": "array", "items": given}) is None


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("", "", "no folder"),
        ("a.json", '{"name": ', "a.json is no JSON"),
        ("a.json", "[]", "no tool schemas in"),
    ],
)
def test_a_folder_without_tools_is_one_line(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    folder = tmp_path if name else tmp_path / "missing"
    if name:
        (tmp_path / name).write_text(text)
    with pytest.raises(UserError, match=said) as error:
        read_tools(str(folder))
    assert "\n" not in str(error.value) and str(error.value).startswith("workload.data: ")


def test_a_tool_without_required_free_text_is_never_asked_for(tmp_path: Path) -> None:
    cancel, mean, _ = read_tools(collection(tmp_path))
    assert not askable(cancel["function"]["parameters"])
    assert askable(mean["function"]["parameters"])
    assert not askable({"type": "object", "properties": {"x": {"type": "object"}}})


def test_drawn_arguments_fit_their_schema_and_free_text_comes_from_the_load(
    tmp_path: Path,
) -> None:
    parameters = read_tools(collection(tmp_path))[1]["function"]["parameters"]
    drawn = [arguments(Random(n), parameters, lambda: "SECRET") for n in range(20)]
    assert [violation(it, parameters) for it in drawn] == [None] * 20
    assert {it["label"] for it in drawn} == {"SECRET"}
    assert {len(it) for it in drawn} == {1, 2, 3}


def test_the_public_collections_are_read_and_drawn_from_whole() -> None:
    folder = Path("../shared/data")
    if not folder.is_dir():
        pytest.skip("needs ../shared/data: BFCL's and tau-bench's tool schemas")
    tools = read_tools(str(folder))
    assert len(tools) > 500
    known = [it["function"]["parameters"] for it in tools]
    for number, parameters in enumerate(filter(askable, known)):
        drawn = arguments(Random(number), parameters, lambda: "SECRET")
        assert violation(drawn, parameters) is None
        assert json.loads(json.dumps(drawn)) == drawn
