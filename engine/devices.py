"""The devices that an engine may compute on. One rule: all work of an engine goes to one stream.

The streams of `engine.streams` are a model of time. On a GPU every store, copy and replay is queued
on the current stream in the order in which the engine asks for it, page copies to pinned memory
too, so a copy sees what was stored before it, and nothing but the host ever has to wait.
"""

from __future__ import annotations

import torch

from engine.errors import ConfigError


def check_device(name: str) -> None:
    """Raises ``ConfigError``, one line, where there is no device of that name here."""
    if name == "cpu":
        return
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if int(name.partition(":")[2] or 0) < count:
        return
    found = ", ".join(["cpu", *(["cuda"] if count else []), *(f"cuda:{i}" for i in range(count))])
    why = f"CUDA devices here: {count}" if count else "no CUDA device here"
    raise ConfigError(f"device is {name!r}: {why}; accepted: {found}", ("device",))


def choose(name: str) -> None:
    """Make the device the one on which kernels are launched from now on; raises as above."""
    check_device(name)
    if name != "cpu":
        torch.cuda.set_device(torch.device(name if ":" in name else "cuda:0"))


def wait_for(name: str) -> None:
    """Return once the device has done all that it was given."""
    if name != "cpu":
        torch.cuda.synchronize(name)
