"""A live line on stderr while arms run. One rule: silent unless a person is watching.

The line is redrawn only when something arrives: no thread refreshes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from lab import interrupts

if TYPE_CHECKING:
    from types import TracebackType

Tick = Callable[[int, int], None]  # done, due


class RunProgress:
    """One bar an arm; a context manager around a run."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._bars = _bars("replies", self._console)

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bars.stop()

    def say(self, line: str) -> None:
        """A line above the bars, for whoever watches."""
        if self._console.is_terminal:
            self._bars.console.print(line, markup=False, highlight=False)

    def arm(self, name: str, sessions: int) -> Tick:
        """Start an arm's bar and return what moves it, and ends a run that was interrupted."""
        task = self._bars.add_task(f"{name} ({sessions} sessions)", total=None)
        self._bars.refresh()

        def tick(done: int, due: int) -> None:
            interrupts.check()
            self._bars.update(task, completed=done, total=due, refresh=True)

        return tick


@contextmanager
def counting(what: str, noun: str, console: Console | None = None) -> Iterator[Tick]:
    """One bar of many ``noun``; yields what moves it, and ends what was interrupted."""
    with _bars(noun, console or Console(stderr=True)) as bars:
        task = bars.add_task(what, total=None)

        def tick(done: int, due: int) -> None:
            interrupts.check()
            bars.update(task, completed=done, total=due, refresh=True)

        yield tick


def _bars(noun: str, console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn(noun),
        TimeElapsedColumn(),
        console=console,
        auto_refresh=False,
        disable=not console.is_terminal,
    )
