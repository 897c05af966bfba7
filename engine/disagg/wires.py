"""The wires by name. One rule: a wire's package is imported only where that wire is wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.disagg.inproc_wire import InprocWire
from engine.disagg.nixl_wire import NixlWire, nixl
from engine.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.disagg.wire import Wire

WIRES: dict[str, Callable[[], Wire]] = {"inproc": InprocWire, "nixl": NixlWire}


def check_wire(name: str) -> None:
    """Raises ``ConfigError`` where the wire's package is missing, as opening it would."""
    if name == "nixl":
        nixl()


def open_wire(name: str) -> Wire:
    """A fresh wire; raises ``ConfigError`` where there is none of that name or it cannot run."""
    if name not in WIRES:
        raise ConfigError(f"wire is {name}; it must be one of {', '.join(WIRES)}", ("wire",))
    return WIRES[name]()
