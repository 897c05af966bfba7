"""The cases of every kernel, as the modules of `kernels.production` give them.

Rule: adding a kernel is adding a file there; nothing lists them. A module that cannot be read is
told of and takes no other with it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import kernels.production
from lab.errors import UserError
from lab.kernel_bench.words import one_line

if TYPE_CHECKING:
    from kernels.production.case import Case


def modules() -> list[str]:
    """The dotted names of the modules that may have cases, sorted."""
    package = kernels.production
    names = sorted(found.name for found in pkgutil.iter_modules(package.__path__))
    return [f"{package.__name__}.{name}" for name in names]


def cases(module: str, device: str, small: bool = False) -> Iterator[Case]:
    """The cases of one module; none where it has no function of that name."""
    make = getattr(importlib.import_module(module), "cases", None)
    yield from make(device, small) if make else ()


def named(module: str, name: str, device: str) -> Case:
    """One case of a module. Raises StopIteration where it has none of that name."""
    return next(case for case in cases(module, device) if case.name == name)


def gathered(
    device: str, only: str, say: Callable[[str], None], small: bool = False
) -> list[tuple[str, Case]]:
    """Each case whose name has `only` in it, after its module's name. Raises UserError where there
    is none.
    """
    found: list[tuple[str, Case]] = []
    for module in modules():
        try:
            mine = list(cases(module, device, small))
        except Exception as error:
            say(f"{module}: {one_line(error)}")
        else:
            found += [(module, case) for case in mine if only.lower() in case.name.lower()]
    if not found:
        raise UserError(f"--only: no case has {only!r} in its name")
    return found
