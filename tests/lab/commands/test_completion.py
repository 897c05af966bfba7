"""A shell is offered what can stand there: the names that each key takes."""

from __future__ import annotations

import pytest

from lab.commands import completion
from tests.lab.scenario.files import write


def test_scenarios_complete_by_their_bare_names_those_that_ship_and_one_s_own(folder) -> None:
    (folder / "scenarios").mkdir()
    write(folder / "scenarios")
    assert completion.scenarios("goo") == ["good"]
    assert "padded_scatter_stale_slots" in completion.scenarios("padded_s")
    assert completion.scenarios("kvlab_serve") == []  # a profile is no scenario


@pytest.mark.parametrize(
    ("offer", "begun", "offered"),
    [
        (completion.targets, "vl", "vllm"),
        (completion.targets, "bun", "bundled"),
        (completion.workloads, "tool_s", "tool_sessions"),
        (completion.defects, "padded_scatter_s", "padded_scatter_stale_slots"),
        (completion.methods, "of", "ofat"),
    ],
)
def test_what_begins_so_is_offered_and_nothing_else(offer, begun: str, offered: str) -> None:
    found = offer(begun)
    assert offered in found and all(name.startswith(begun) for name in found)


@pytest.mark.parametrize(
    ("words", "offered"),
    [("kvlab run padded_scatter_st", "padded_scatter_stale_slots"), ("kvlab scenario ne", "new")],
)
def test_the_program_answers_a_shell(
    words: str, offered: str, monkeypatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from lab.app import answer

    monkeypatch.setenv("_KVLAB_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    with pytest.raises(SystemExit) as ended:
        answer([])
    assert ended.value.code in (0, None)
    assert capsys.readouterr().out.split() == [offered]
