"""Whether an arm by the wall's clock has wedged. One rule: looks are counted, not seconds.

Under the virtual clock a wedge costs nothing: time jumps to the clients' timeouts, or the clock
stalls. Here it would cost minutes of somebody's time, so an arm ends where a reply is due and no
event was added for a minute, or as much longer as the rooms of a pair may wait. A step that takes
longer than that, the first one while its kernels are compiled, holds up the looks as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine import clock

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.config import EngineConfig

QUIET_S, LOOKS = 60.0, 12


def quiet_s(config: EngineConfig) -> float:
    """Seconds of silence that no working engine of this configuration keeps."""
    rooms_s = max(config.bootstrap_timeout, config.waiting_timeout) if config.pd else 0.0
    return QUIET_S + rooms_s


async def until_silent(limit_s: float, events: Callable[[], int], due: Callable[[], bool]) -> None:
    """Give the arm up as stalled after ``limit_s`` without a new one of ``events`` though a reply
    is ``due``. Otherwise it goes on until it is cancelled.
    """
    seen, looks = -1, 0
    while looks < LOOKS:
        await clock.sleep(limit_s / LOOKS)
        looks = looks + 1 if due() and events() == seen else 0
        seen = events()
    clock.stall(f"no event for {limit_s:g} s, though a reply is due")
