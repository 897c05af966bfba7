"""The devices that an engine may compute on. One rule: all work of an engine goes to one stream.

The streams of `engine.streams` are a model of time. On a GPU every store, copy and replay is queued
on the current stream in the order in which the engine asks for it, page copies to pinned memory
too, so a copy sees what was stored before it, and nothing but the host ever has to wait.
"""

from __future__ import annotations

import torch

from engine.errors import ConfigError

E4M3 = (8, 9)  # compute capability: the first whose kernels convert to e4m3 and back


def check_device(name: str) -> None:
    """Raises ``ConfigError``, one line, where there is no device of that name here, or it is too
    old for the kernels.
    """
    if name == "cpu":
        return
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    index = int(name.partition(":")[2] or 0)
    if index < count:
        _check_capability(name, index)
        return
    found = ", ".join(["cpu", *(["cuda"] if count else []), *(f"cuda:{i}" for i in range(count))])
    why = f"CUDA devices here: {count}" if count else "no CUDA device here"
    raise ConfigError(f"device is {name!r}: {why}; accepted: {found}", ("device",))


def _check_capability(name: str, index: int) -> None:
    major, minor = torch.cuda.get_device_capability(index)
    if (major, minor) < E4M3:
        why = f"{torch.cuda.get_device_name(index)} (sm_{major}{minor}) has no e4m3; at least sm_89"
        raise ConfigError(f"device is {name!r}: {why}", ("device",))


def choose(name: str) -> None:
    """Make the device the one on which kernels are launched from now on; raises as above."""
    check_device(name)
    if name != "cpu":
        torch.cuda.set_device(torch.device(name if ":" in name else "cuda:0"))


def wait_for(name: str) -> None:
    """Return once the device has done all that it was given."""
    if name != "cpu":
        torch.cuda.synchronize(name)
