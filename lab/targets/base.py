"""What a target is given and what it must answer. One rule: it raises only ``LabError``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab.records import ArmHistory, SessionPlan
from lab.registry import Registry

if TYPE_CHECKING:
    from lab.driver.recorder import Progress
    from lab.workloads import WorkloadModel


@dataclass(frozen=True)
class Task:
    """One arm to run: its name, every toggle's value, the build under test and the load."""

    name: str
    settings: dict[str, Any]
    build: tuple[str, ...]
    seed: int
    workload: WorkloadModel
    plans: tuple[SessionPlan, ...]
    progress: Progress


Target = Callable[[Task], ArmHistory]
TARGETS: Registry[Target] = Registry("target", "lab.targets")
