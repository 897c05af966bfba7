"""Ctrl-C and SIGTERM. One rule: an interruption is noted before it is raised.

Python raises within whatever runs at that moment, and what is raised in the callback of a weak
reference, or in a finalizer, is dropped. Whoever goes on asks for the note, so the exception that
was dropped needs no traceback.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs
    from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)  # a kill keeps what finished, too
_noted: list[int] = []


def listen() -> None:
    """Answer both signals from now on; forgets what was noted. The main thread's alone."""
    _noted.clear()
    for number in SIGNALS:
        signal.signal(number, interrupt)
    sys.unraisablehook = _dropped


def interrupt(number: int, frame: FrameType | None) -> None:
    """Note the signal, then raise ``KeyboardInterrupt``: the handler."""
    _noted.append(number)
    raise KeyboardInterrupt


def check() -> None:
    """Raise ``KeyboardInterrupt`` if an interruption was noted, and nobody may have heard it."""
    if _noted:
        raise KeyboardInterrupt


@contextmanager
def heard() -> Iterator[None]:
    """What fails in this block after an interruption was noted is that interruption.

    DuckDB turns the ``KeyboardInterrupt`` that comes within a statement into a ``RuntimeError``.
    """
    try:
        yield
    except Exception as error:
        if _noted:
            raise KeyboardInterrupt from error
        raise


def _dropped(told: UnraisableHookArgs) -> None:
    """Lets Python print whatever it drops, but not an interruption that was noted."""
    if not (_noted and issubclass(told.exc_type, KeyboardInterrupt)):
        sys.__unraisablehook__(told)
