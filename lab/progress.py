"""A live line on stderr while arms run. One rule: silent unless a person is watching.

The line is redrawn only when a reply arrives: no thread refreshes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from lab import interrupts

if TYPE_CHECKING:
    from types import TracebackType

Tick = Callable[[int, int], None]  # replies done, replies due


class RunProgress:
    """One bar an arm; a context manager around a run."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("replies"),
            TimeElapsedColumn(),
            console=self._console,
            auto_refresh=False,
            disable=not self._console.is_terminal,
        )

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

    def arm(self, name: str, sessions: int) -> Tick:
        """Start an arm's bar and return what moves it, and ends a run that was interrupted."""
        task = self._bars.add_task(f"{name} ({sessions} sessions)", total=None)
        self._bars.refresh()

        def tick(done: int, due: int) -> None:
            interrupts.check()
            self._bars.update(task, completed=done, total=due, refresh=True)

        return tick
