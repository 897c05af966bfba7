"""A run that must go as a stored one went, as far as one event of it.

One rule: every event is compared as it happens, so what is shown of the run holds for the stored
one too, or the first event that differs ends it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.replaying.history import Difference, Placed, happened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.events import Event
    from lab.replaying.history import Told


class Course:
    """The watch of an arm that ends at event ``until`` of ``events``, or at the first other one."""

    def __init__(self, events: Sequence[Told], until: int) -> None:
        self._left = happened(events[: until + 1])[::-1]  # the next one last
        self._parted: Difference | None = None

    def __call__(self, event: Event) -> bool:
        """Whether the arm ends here."""
        expected = self._left.pop()
        if expected.event != event:
            self._parted = Difference(expected, Placed(expected.number, event))
        return self._parted is not None or not self._left

    @property
    def difference(self) -> Difference | None:
        """Where the arm, which has ended, went another way; None where it went all the way."""
        if self._parted is None and self._left:
            return Difference(self._left[-1], None)
        return self._parted
