"""What a result depends on besides its scenario: the versions that are stored with every run."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import sys
from importlib import metadata
from pathlib import Path

from engine.disagg.nixl_wire import INSTALL

PACKAGES = ("kvlab", "torch", "triton", "numpy", "httpx", "starlette", "duckdb", "pydantic")
OWN, SHOWN = ("engine", "kernels", "lab"), 16  # whose sources count; hex digits of their digest


def versions() -> dict[str, str]:
    """Package versions, Python, the platform, and ``sources``: a digest of kvlab's own code. A
    package that is absent says so.
    """
    found = {name: installed(name) for name in PACKAGES}
    found["nixl"] = installed("nixl-cu13", f"not installed: {INSTALL}")
    found |= {"python": sys.version.split()[0], "platform": platform.platform()}
    return {**found, "sources": sources(Path(__file__).resolve().parents[1])}


@functools.cache
def sources(root: Path) -> str:
    """Hex digest of the paths and contents of every module under ``root``, of all packages of
    kvlab's own; read once a process, for that is the code which it runs.
    """
    digest = hashlib.sha256()
    modules = (path for package in OWN for path in (root / package).rglob("*.py"))
    for name, path in sorted((path.relative_to(root).as_posix(), path) for path in modules):
        data = path.read_bytes()
        digest.update(f"{name}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()[:SHOWN]


def installed(name: str, otherwise: str = "absent") -> str:
    """The installed version of a distribution, or ``otherwise``."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return otherwise


def cores() -> int:
    """CPU cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
