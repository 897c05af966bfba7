"""Named things, one file each; their modules load in sorted order, when first asked for."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Registry(Generic[T]):
    """Items by name; ``package`` is the dotted package whose modules register them."""

    def __init__(self, what: str, package: str) -> None:
        self.what, self.package = what, package
        self._items: dict[str, T] = {}
        self._loaded = False

    def register(self, name: str) -> Callable[[T], T]:
        """A decorator that files its item under ``name`` and returns it; a second one raises."""

        def file(item: T) -> T:
            if name in self._items:
                raise ValueError(f"{self.what} {name!r} is registered twice")
            self._items[name] = item
            return item

        return file

    def all(self) -> dict[str, T]:
        """Every item, sorted by name."""
        if not self._loaded:
            self._loaded = True
            path = importlib.import_module(self.package).__path__
            for module in sorted(found.name for found in pkgutil.iter_modules(path)):
                importlib.import_module(f"{self.package}.{module}")
        return dict(sorted(self._items.items()))
