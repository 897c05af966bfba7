"""A cap on requests to somebody else's server, by the wall clock.

One rule: for URL targets only. `asyncio-throttle` reads the real clock and polls every 10 ms, which
under a virtual clock would move time by minutes; there, arrivals come from the plan alone.
"""

from __future__ import annotations

from asyncio_throttle.throttler import Throttler

from engine.clock import is_virtual


def capped(per_second: int) -> Throttler:
    """At most ``per_second`` requests in any second. ValueError under the virtual clock."""
    if is_virtual():
        raise ValueError("a wall-clock cap under the virtual clock would move virtual time")
    return Throttler(rate_limit=per_second, period=1.0)
