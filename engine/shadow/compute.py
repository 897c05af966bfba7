"""What steps write and read, held against what their requests mean. One rule: it looks at inputs
that a step really had, and at the slots that its stores really wrote.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from engine.sched.batch import Batch
    from engine.shadow.memory import ShadowMemory


class StepWatch(Protocol):
    """Who is told of the steps that an engine runs."""

    def launched(self, batch: Batch) -> None:
        """The host launches a step."""
        ...

    def ended(self) -> None:
        """The step has run."""
        ...


class NoStepWatch:
    """Nobody looks."""

    def launched(self, batch: Batch) -> None:
        return

    def ended(self) -> None:
        return


class ComputeWatch:
    """Watches the steps of one engine."""

    def __init__(self, shadow: ShadowMemory) -> None:
        self.shadow = shadow

    def launched(self, batch: Batch) -> None:
        """The host launches a step."""
        self.shadow.launched()

    def ended(self) -> None:
        """The step has run; the host hears of it when it processes the step."""
        self.shadow.ended()
