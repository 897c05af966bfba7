"""What a result depends on besides its scenario: the versions that are stored with every run."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata

from engine.disagg.nixl_wire import INSTALL

PACKAGES = ("kvlab", "torch", "triton", "numpy", "httpx", "starlette", "duckdb", "pydantic")


def versions() -> dict[str, str]:
    """Package versions, Python and the platform; a package that is absent says so."""
    found = {name: installed(name) for name in PACKAGES}
    found["nixl"] = installed("nixl-cu13", f"not installed: {INSTALL}")
    return {**found, "python": sys.version.split()[0], "platform": platform.platform()}


def installed(name: str, otherwise: str = "absent") -> str:
    """The installed version of a distribution, or ``otherwise``."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return otherwise


def cores() -> int:
    """CPU cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
