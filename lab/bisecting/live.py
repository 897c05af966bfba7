"""What a bisection is doing, live on stderr. One rule: silent unless a person is watching.

It is redrawn only when a trial ends or something new is believed: no thread refreshes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from lab import interrupts
from lab.bisect.trials import sessions
from lab.report.words import number

if TYPE_CHECKING:
    from types import TracebackType

    from lab.bisect.conclusion import Belief
    from lab.bisect.notebook import Phase, Probe
    from lab.bisect.space import Config
    from lab.bisect.trials import Trial

BAR = 24  # columns of a certainty
SETS = 6  # candidate sets shown


class BisectLive:
    """Phase, sessions spent, the last probe and the likeliest sets; a context manager."""

    def __init__(
        self, toggles: tuple[str, ...], budget: int, console: Console | None = None
    ) -> None:
        self._toggles, self._budget = toggles, budget
        self._console = console or Console(stderr=True)
        self._live: Live | None = None
        self._asking, self._last, self._spent = "", "", 0
        self._trials, self._ended = 0, 0
        self._belief: Belief | None = None

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live = Live(console=self._console, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def asks(self, phase: Phase, config: Config, trials: int) -> None:
        """A probe begins."""
        self._asking = f"{phase.value}: {self.named(config)}"
        self._trials, self._ended = trials, 0
        self._draw()

    def ended(self, trial: Trial) -> None:
        """A trial has ended; raises ``KeyboardInterrupt`` if an interruption was noted."""
        self._ended += 1
        self._spent += trial.sessions
        self._draw()
        interrupts.check()

    def told(self, probe: Probe, spent: int) -> None:
        """A probe is complete, ``spent`` sessions so far."""
        corrupt = sum(trial.corrupt for trial in probe.outcome)
        of = f"{corrupt} of {sessions(probe.outcome)} sessions corrupt"
        self._last, self._spent = f"{self.named(probe.config)}: {of}", spent
        self._draw()

    def believes(self, belief: Belief) -> None:
        """The likeliest sets have changed."""
        self._belief = belief
        self._draw()

    def named(self, config: Config) -> str:
        """A configuration in few words."""
        bad = [key for key in self._toggles if key in config.bad]
        levels = [f"{key} {at}" for key, at in config.levels]
        if levels:
            return f"{', '.join([*bad, *levels])} bad"
        if len(bad) == len(self._toggles):
            return "all bad"
        return f"{', '.join(bad)} bad" if bad else "all good"

    def view(self) -> Group:
        """What is drawn."""
        spent = f"{self._spent} of {self._budget} sessions, trial {self._ended} of {self._trials}"
        lines = [Text(self._asking, style="bold"), Text(spent)]
        lines += [Text(f"last probe: {self._last}", style="dim")] if self._last else []
        return Group(*lines, *self._bars())

    def _bars(self) -> list[Text]:
        sets = self._belief.sets[:SETS] if self._belief else ()
        names = [" + ".join(keys) or "no toggle" for keys, _ in sets]
        width = max(map(len, names), default=0)
        return [
            Text(f"{name:<{width}} {'█' * round(BAR * p):<{BAR}} {number(p):>5} %", no_wrap=True)
            for name, (_, p) in zip(names, sets, strict=True)
        ]

    def _draw(self) -> None:
        if self._live is not None:
            self._live.update(self.view(), refresh=True)
