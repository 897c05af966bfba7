"""Who gives way when the pool is full.

One rule, SGLang's: the request with the least output goes, since least decoding is thrown away;
among equals the one with the longest prompt, since it frees most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.request import Request


def victim(rows: Sequence[Request]) -> Request:
    """The row to retract; among full equals the one that arrived last. ``rows`` is not empty."""
    return min(rows, key=lambda req: (len(req.output), -len(req.prompt), -req.id))


def headroom(req: Request, running: int) -> int:
    """Pages that must stay within reach when ``req`` is admitted beside ``running`` rows.

    A retracted request comes back only where each running row could take one more page: otherwise
    the next page boundary would push it out again. A fresh request needs no headroom.
    """
    return running if req.output else 0
