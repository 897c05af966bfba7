"""The worst replies are shown as they came, marked where they leave the right text."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from lab.errors import StoreError
from lab.records import Finding
from lab.report.replies import (
    Case,
    case_text,
    first_difference,
    marked,
    show_replies,
    visible,
    wrapped,
)
from lab.store import Results, open_results
from tests.lab.samples import ARMS, findings, history, reply, run_verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def results(tmp_path: Path) -> Iterator[Results]:
    with open_results(tmp_path / "lab.duckdb") as opened:
        yield opened


@pytest.fixture
def run(results: Results) -> str:
    """A judged run whose first arm has ten wrong replies."""
    arms = [history(name, corrupt=n) for name, n in ARMS.items()]
    run = results.begin_run("padded_scatter", "", 7, {})
    for arm in arms:
        results.save_arm(run, arm)
    found = {arm.name: findings(arm) for arm in arms}
    results.save_verdict(run, run_verdict(run, arms, ARMS), found)
    return run


def shown(results: Results, run: str, session: int | None = None, limit: int = 3) -> str:
    console = Console(file=io.StringIO(), width=100, no_color=True)
    show_replies(results, run, session, console=console, limit=limit)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_reply_that_took_more_than_one_try_says_which_it_was() -> None:
    again = replace(reply(0, 0, text="wrong"), tries=3)
    text = case_text(Case("an arm", again, ()), 80).plain
    assert text.startswith(
        "an arm, session 0, turn 0: ok, finish_reason tool_calls, try 3, request r0-0\n"
    )


def test_the_mark_stands_under_the_first_wrong_character(results: Results, run: str) -> None:
    lines = shown(results, run, limit=1).splitlines()
    assert (
        lines[0]
        == "bf16, graph on, session 50, turn 3: ok, finish_reason tool_calls, request r50-3"
    )
    assert lines[1] == "  leaked_markup: markup in the visible text"
    mark = next(i for i, line in enumerate(lines) if line.lstrip().startswith("^"))
    before, caret = lines[mark - 1], lines[mark]
    at = before.index("bll")
    assert cell_len(before[:at]) == caret.index("^")
    assert caret.endswith("^ expected alls>⏎</｜DSML｜tool_calls>")
    assert lines[-1].startswith("9 more; --session N")


def test_one_sessions_replies_are_all_shown(results: Results, run: str) -> None:
    text = shown(results, run, session=55)
    assert text.count("session 55, turn") == 1
    assert "more;" not in text


def test_a_session_without_a_fault_says_so(results: Results, run: str) -> None:
    assert shown(results, run, session=0) == "No reply failed a detector.\n"


def test_a_run_that_was_not_judged_says_how(results: Results) -> None:
    run = results.begin_run("any", "", 0, {})
    with pytest.raises(StoreError, match="has no verdict"):
        shown(results, run)


def test_control_characters_never_reach_the_terminal() -> None:
    broken = replace(reply(0, 0), raw_text="<think>\x1b[2J\x07 boom")
    text = case_text(Case("a", broken, ()), 80).plain
    assert "\x1b" not in text
    assert "\\x1b[2J\\x07 boom" in text


def test_a_reply_without_raw_text_shows_what_was_visible() -> None:
    unknown = replace(reply(0, 0), raw_text=None, content="hello")
    case = Case("a", unknown, (Finding(0, 0, "dropped_call", "fail", "no call"),))
    text = case_text(case, 80).plain
    assert "raw text unknown, visible text shown" in text
    assert "| hello" in text


def test_a_reply_cut_short_is_marked_at_its_end() -> None:
    lines = list(marked("abc", "abcd\n", 3, 90))
    assert lines[-1] == "  ^ ends here, expected d⏎"


def test_a_reply_that_runs_on_is_marked_where_it_should_have_ended() -> None:
    lines = list(marked("abcd", "ab", 2, 90))
    assert lines == ["first difference at character 2 of 4", "| abcd", "    ^ expected the end"]


@given(st.text("ab\n", max_size=9), st.text("ab\n", max_size=9))
def test_the_first_difference_is_where_the_common_beginning_ends(one: str, other: str) -> None:
    at = first_difference(one, other)
    if at is None:
        assert one == other
    else:
        assert one[:at] == other[:at]
        assert one[at : at + 1] != other[at : at + 1]


@given(st.text("ab｜\n\x1b", max_size=60), st.integers(8, 20))
def test_wrapping_loses_nothing_and_never_overruns(text: str, width: int) -> None:
    lines = list(wrapped(text, width))
    assert "".join(lines) == text
    assert all(cell_len(visible(line)) <= width for line in lines)
