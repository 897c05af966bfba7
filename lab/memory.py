"""What the pools of an engine take, and what this machine has. One rule: nothing is allocated."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.shapes import bytes_of, geometry_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.config import EngineConfig

GIB = 2**30
CGROUP = Path("/sys/fs/cgroup/memory.max")


def machine_bytes(limit: Path = CGROUP) -> int:
    """The memory of this machine, all of it, or what a container may have of it."""
    has = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        return min(has, int(limit.read_text(encoding="ascii")))
    except (OSError, ValueError):  # no control group, or one without a limit: `max`
        return has


def pool_bytes(config: EngineConfig) -> dict[str, int]:
    """What the pools of each tier take in a healthy build; a defect's own pools are no larger."""
    return bytes_of(geometry_of(replace(config, build=())), config.ranks)


def too_large(config: EngineConfig) -> str | None:
    """Why the pools of this engine can never be allocated here; None where they can.

    The bundled engine keeps the device's pools in the machine's own memory too, unless it has a
    GPU, and a pair those of every rank of both sides.
    """
    needed, has = pool_bytes(config), machine_bytes()
    if config.device != "cpu":
        needed = {tier: size for tier, size in needed.items() if tier == "host"}
    if sum(needed.values()) <= has:
        return None
    return f"the pools need {spelled(needed)}; the machine has {gib(has)}"


def spelled(by_tier: Mapping[str, int]) -> str:
    """``1.5 GiB (device 0.5 GiB, host 1.0 GiB)``."""
    tiers = ", ".join(f"{tier} {gib(size)}" for tier, size in by_tier.items())
    return f"{gib(sum(by_tier.values()))} ({tiers})"


def gib(size: int) -> str:
    """Bytes as GiB with a digit that matters."""
    return f"{size / GIB:,.1f} GiB" if size >= GIB / 10 else f"{size / GIB:.3f} GiB"
