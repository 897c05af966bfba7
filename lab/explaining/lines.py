"""Lines of an explanation on a terminal. One rule: this alone wraps, by cells and not by letters.

Sentences break between words, at the console's width or at ``WIDEST``; what they go on with stands
under their beginning. A quote is cut where the line ends, for its spaces count, and a command is
never cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.text import Text

from lab.report.replies import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console, ConsoleOptions, RenderResult

WIDEST = 98
HANGING = "  "


class Quote(str):
    """A piece of a reply, behind a word of the left column."""

    column = 10


class Command(str):
    """What can be typed as it is."""


class Lines:
    """Lines that each may begin with spaces, to be printed."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Each on as many lines as the width asks for."""
        width = max(20, min(WIDEST, options.max_width))
        for line in self._lines:
            for each in _broken(line, console, width):
                yield Segment(each)
                yield Segment.line()


def _broken(line: str, console: Console, width: int) -> Iterator[str]:
    told = line.lstrip(" ")
    margin = line[: len(line) - len(told)]
    if isinstance(line, Command):
        yield line
    elif isinstance(line, Quote):
        head, rest = told[: Quote.column], told[Quote.column :]
        for each in wrapped(rest, width - len(margin) - len(head)):
            yield f"{margin}{head}{each}"
            head = " " * len(head)
    else:
        room = width - len(margin) - len(HANGING)
        for row in Text(told).wrap(console, room):
            yield f"{margin}{row.plain.rstrip()}"
            margin = line[: len(line) - len(told)] + HANGING
