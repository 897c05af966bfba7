"""A world that has answered before. One rule: what was paid for is not asked again.

It stands between a search and the world under test, so a search that is taken up again asks the
same probes and gets the stored trials for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from lab.bisect.notebook import Refused
from lab.errors import TargetError, UserError
from lab.targets import failed

if TYPE_CHECKING:
    from lab.bisect.notebook import World
    from lab.bisect.space import Config
    from lab.bisect.trials import Outcome, Trial


class Remembering:
    """``world``, asked only for what is not ``known``, nor ``refused`` with a reason.

    With ``closed`` it is not asked at all: that is what the `UserError` says which is raised.
    """

    def __init__(
        self,
        world: World,
        known: Mapping[tuple[Config, int], Trial],
        closed: str = "",
        refused: Callable[[Config], str] = lambda config: "",
    ) -> None:
        self._world, self._known, self._closed = world, dict(known), closed
        self._refused = refused
        self.stored = self.run = 0  # trials answered from memory, and by the world

    @property
    def batch_sessions(self) -> int:
        """Sessions of one trial."""
        return self._world.batch_sessions

    @property
    def boot_cost(self) -> float:
        """What starting another configuration costs, in sessions."""
        return self._world.boot_cost

    def unexercised(self, config: Config, trials: Sequence[Trial]) -> str:
        """Why these trials prove nothing about the configuration."""
        return self._world.unexercised(config, trials)

    def probe(self, config: Config, indices: range) -> Outcome:
        """The trials in order, from memory where it has them.

        Raises `Refused`, and `TargetError` where no trial so far was served.
        """
        missing = [index for index in indices if (config, index) not in self._known]
        self.stored += len(indices) - len(missing)
        if missing and (why := self._refused(config)):
            raise Refused(why)
        if missing and self._closed:
            raise UserError(self._closed)
        for some in consecutive(missing):
            for trial in self._world.probe(config, some):
                self._known[config, trial.index] = trial
                self.run += 1
        if all(failed(trial.unknown) for trial in self._known.values()):
            raise TargetError(self._known[config, indices[0]].unknown)
        return tuple(self._known[config, index] for index in indices)


def consecutive(indices: Sequence[int]) -> list[range]:
    """Ascending indices as ranges without gaps."""
    found: list[range] = []
    for index in indices:
        if found and found[-1].stop == index:
            found[-1] = range(found[-1].start, index + 1)
        else:
            found.append(range(index, index + 1))
    return found
