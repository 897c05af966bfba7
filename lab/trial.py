"""One arm of a scenario, run. One rule: equal arguments leave equal histories, byte for byte, but
for times under a wall clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.targets import TARGETS, Task
from lab.workloads import resolve

if TYPE_CHECKING:
    from lab.driver.recorder import Progress
    from lab.launching import Servers
    from lab.records import ArmHistory
    from lab.scenario.models import Arm, Scenario
    from lab.targets import Watch


def run_arm(
    scenario: Scenario,
    arm: Arm,
    seed: int,
    progress: Progress = lambda done, due: None,
    watch: Watch | None = None,
    servers: Servers | None = None,
) -> ArmHistory:
    """Plan the load from ``seed``, start the target and drive every session to its end.

    ``servers`` are the boots of the run, where the target is launched.

    ``progress(done, due)`` is called after every reply; the arm ends early at the first event of
    which ``watch`` says so. Raises ``LabError``.
    """
    load = scenario.workload
    workload = resolve(load.kind, load.preset, scenario.load(arm))
    task = Task(
        name=arm.name,
        settings=scenario.settings(arm),
        build=scenario.build,
        seed=seed,
        workload=workload,
        plans=tuple(workload.kept(seed)),
        progress=progress,
        watch=watch,
        clock=scenario.clock,
    )
    if scenario.target.bundled:
        return TARGETS.all()[scenario.target.name](task)
    from lab.targets.foreign import run_foreign

    return run_foreign(task, scenario.target, servers)
