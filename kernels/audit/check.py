"""A check: what is asked of a kernel, of which inputs, and how far it may be off.

Rule: a check passes only where every measured number is at most its bound, so that NaN never
passes; and each has a faulty twin in the tests that it catches.
"""

import importlib
import pkgutil
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from kernels.layout import LayerView, PageLayout
from kernels.ops import Ops

Implementation = Literal["reference", "triton interpreted", "triton compiled"]
IMPLEMENTATIONS: tuple[Implementation, ...] = get_args(Implementation)
Part = Literal["checks", "addressing"]


@dataclass(frozen=True)
class Setting:
    """Whose operations are audited, and where; inputs are drawn anew for each seed."""

    ops: Ops
    implementation: Implementation
    device: str = "cpu"
    seed: int = 0

    @property
    def large(self) -> bool:
        """Whether sizes of production are asked for."""
        return self.implementation == "triton compiled"

    def size(self, small: int, large: int) -> int:
        """`large` on a GPU, else `small`."""
        return large if self.large else small

    def numbers(self, name: str) -> torch.Generator:
        """The source of numbers of one check, on the CPU: equal seeds draw equal inputs."""
        return torch.Generator().manual_seed(zlib.crc32(f"{self.seed}:{name}".encode()))

    def put(self, *tensors: Tensor) -> list[Tensor]:
        """The tensors on the device."""
        return [tensor.to(self.device) for tensor in tensors]

    def there(self, view: LayerView) -> LayerView:
        """A layer whose pages are on the device."""
        return LayerView(view.layout, view.pages.to(self.device))

    def pool(self, layout: PageLayout, pages: int, fill: int) -> Tensor:
        """A pool's buffer on the device."""
        return layout.allocate(pages, self.device, fill)


class NotRun(Exception):
    """A check needs more than there is here; the text says what."""


@dataclass(frozen=True)
class Found:
    """What one check saw: inputs in words, numbers by name, the most that each may be, and why."""

    inputs: str
    measured: Mapping[str, float]
    bound: Mapping[str, float]
    why: str

    @property
    def ok(self) -> bool:
        """Whether nothing is out of bounds; NaN is."""
        return all(self.measured[name] <= most for name, most in self.bound.items())


@dataclass(frozen=True)
class Check:
    """One question about one kernel, asked of the implementations in `only`; `part` says in which
    part of a report it stands.
    """

    kernel: str
    name: str
    run: Callable[[Setting], Found]
    only: tuple[Implementation, ...] = IMPLEMENTATIONS
    part: Part = "checks"


_CHECKS: list[Check] = []


def check(
    kernel: str,
    name: str,
    only: tuple[Implementation, ...] = IMPLEMENTATIONS,
    part: Part = "checks",
) -> Callable[[Callable[[Setting], Found]], Callable[[Setting], Found]]:
    """Files a function as a check of `kernel`."""

    def file(run: Callable[[Setting], Found]) -> Callable[[Setting], Found]:
        _CHECKS.append(Check(kernel, name, run, only, part))
        return run

    return file


def all_checks() -> list[Check]:
    """Every check of every file of this package, in order of the files."""
    package = importlib.import_module("kernels.audit").__path__
    for module in sorted(found.name for found in pkgutil.iter_modules(package)):
        importlib.import_module(f"kernels.audit.{module}")
    return list(_CHECKS)


@contextmanager
def poisoned() -> Iterator[None]:
    """Memory that nothing wrote reads as NaN inside: a result that is right was all written."""
    before = torch.are_deterministic_algorithms_enabled()
    warns = torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before, warn_only=warns)
