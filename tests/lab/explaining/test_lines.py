"""Lines on a terminal: wrapped in one place, by cells."""

from __future__ import annotations

from io import StringIO

from rich.cells import cell_len
from rich.console import Console

from lab.explaining.lines import Command, Lines, Quote


def printed(*lines: str, width: int = 80) -> list[str]:
    console = Console(file=StringIO(), width=width)
    console.print(Lines(lines), markup=False, highlight=False, crop=False)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().splitlines()


def test_a_sentence_goes_on_under_its_beginning_and_fits_the_console() -> None:
    told = printed("  " + "word " * 40)
    assert max(map(len, told)) <= 80 and len(told) > 2
    assert told[0].startswith("  word") and told[1].startswith("    word")


def test_a_wide_console_is_not_filled() -> None:
    assert max(map(len, printed("word " * 80, width=200))) <= 98


def test_wide_letters_count_for_two() -> None:
    told = printed("  " + "\uff5c\uff5c " * 30)
    assert max(map(cell_len, told)) <= 80


def test_spaces_of_a_quote_are_kept_and_it_goes_on_in_its_column() -> None:
    (line,) = printed(Quote("  expected  a  b   c"))
    assert line == "  expected  a  b   c"
    first, second = printed(Quote("  expected  " + "x" * 90))
    assert len(first) == 80 and second.startswith(" " * 12 + "x")


def test_a_command_is_never_cut() -> None:
    command = "  kvlab explain last --db " + "long/" * 30 + "lab.duckdb"
    assert printed(Command(command)) == [command]
