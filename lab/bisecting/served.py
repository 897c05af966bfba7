"""Servers that are launched, as a search asks them: one trial after another, by the wall's clock.

One rule: a boot goes on serving for as long as its configuration is asked for. A trial's seed gives
its load, as everywhere; what a server makes of it by the wall's clock nobody can repeat.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from lab import interrupts
from lab.bisect.notebook import Refused
from lab.bisecting.outcomes import CORRUPT
from lab.bisecting.space_of import arm_of
from lab.bisecting.world import EngineWorld, Told, run_trial
from lab.errors import TargetError, UserError
from lab.targets import absent
from lab.targets.foreign import Opened, servers_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType

    from lab.bisect.space import Config
    from lab.bisect.trials import Outcome, Trial
    from lab.scenario.models import Scenario


class ServedWorld(EngineWorld):
    """A `lab.bisect.notebook.World` over the servers of a profile, or over somebody else's.

    ``logs`` takes what the servers print; ``say`` hears of every boot.
    """

    def __init__(
        self,
        scenario: Scenario,
        logs: Path,
        *,
        seed: int,
        outcome: str = CORRUPT,
        told: Told = lambda config, trial: None,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        super().__init__(scenario, seed=seed, outcome=outcome, told=told)
        self._logs, self._say, self._stack = logs, say, ExitStack()
        self._servers: Opened = None
        self._served = False  # whether any server ever came up

    def __enter__(self) -> ServedWorld:
        opened = servers_of(self._scenario, self._logs, self._say)
        self._servers = self._stack.enter_context(opened)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def probe(self, config: Config, indices: range) -> Outcome:
        """One trial an index, in order; raises `Refused` for a configuration that does not come up
        where another did, `TargetError` where none does.
        """
        arm, found = arm_of(self._scenario, config), []
        for index in indices:
            if self._servers is not None and self._scenario.bisect.boots == "fresh":
                self._servers.close()
            try:
                trial = run_trial(
                    self._scenario, arm, self._seed, self._outcome, index, self._servers
                )
            except UserError as error:
                raise Refused(str(error).removeprefix(f"arm {arm.name!r}: ")) from None
            self._came_up(trial)
            found.append(trial)
            self._told(config, trial)
            interrupts.check()
        return tuple(found)

    def _came_up(self, trial: Trial) -> None:
        if not absent(trial.unknown):
            self._served = True
        elif self._served:
            raise Refused(trial.unknown)
        else:
            raise TargetError(trial.unknown)
