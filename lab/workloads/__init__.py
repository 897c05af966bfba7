"""Loads: what the simulated clients will ask and what they must be answered.

One rule: a plan is a pure function of its parameters and the seed; nothing here sends anything.
"""

from lab.workloads.base import WORKLOADS, WorkloadModel, resolve
from lab.workloads.presets import PRESETS, Preset

__all__ = ["PRESETS", "WORKLOADS", "Preset", "WorkloadModel", "resolve"]
