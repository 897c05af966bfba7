"""Why a toggle that is on was never exercised, and what would reach it.

One rule: every reason stands on the arm's own counters, and ends with a key that a scenario can
change. A toggle without an entry in ``WHY`` is told by its name alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Counters = Mapping[str, int]
Explain = Callable[[Mapping[str, Any], Counters], str]

FEW = 2  # one page backed up for more than so many evicted: most of them had no copy


def explained(key: str, settings: Mapping[str, Any], counters: Counters) -> str:
    """The toggle with its reason: ``hicache (nothing left the device ...: lower ...)``."""
    why = WHY.get(key)
    return f"{key} ({why(settings, counters)})" if why else key


def no_restore(settings: Mapping[str, Any], counters: Counters) -> str:
    """Why nothing came back from the host: it was full, or empty, or nobody asked."""
    if "evicted_tokens" in counters:
        return _no_restore_elsewhere(counters["evicted_tokens"])
    evicted, backed = counters.get("evicted_pages", 0), counters.get("pages_backed_up", 0)
    left = f"{evicted:,} pages evicted, {backed:,} backed up"
    if refused := counters.get("load_backs_refused", 0):
        room = "the device had no room for them: lower engine.concurrency"
        return f"{refused:,} restores refused, {room} or raise engine.pool_pages"
    if not evicted:
        pool = f"{backed:,} backed up, the device has {settings.get('pool_pages', '?')}"
        remedy = "lower engine.pool_pages or raise workload.sessions"
        return f"nothing left the device, 0 pages evicted, {pool}: {remedy}"
    if backed * FEW < evicted:
        return f"{left}: {_unsaved(settings, counters)}"
    lost = counters.get("host_evicted_pages", 0)
    more = f"; {lost:,} left the host too, raise engine.host_ratio" if lost else ""
    remedy = "use workload.kind round_robin or a_flood_a, or workload.think_s"
    return f"{left}, and nobody came back for them: {remedy}{more}"


def _no_restore_elsewhere(evicted: int) -> str:
    """The same of a server that counts in tokens, and does not tell what was backed up."""
    if not evicted:
        remedy = "lower engine.max_total_tokens or raise workload.sessions"
        return f"nothing left the device, 0 tokens evicted: {remedy}"
    remedy = "use workload.kind round_robin or a_flood_a, or workload.think_s"
    return f"{evicted:,} tokens evicted, and none came back: {remedy}"


def _unsaved(settings: Mapping[str, Any], counters: Counters) -> str:
    """Why most of what was evicted had no copy."""
    if refused := counters.get("backups_refused", 0):
        return f"{refused:,} backups refused, the host was full: raise engine.host_ratio"
    policy = settings.get("hicache_write")
    second = (
        " waits for a second use" if policy == "write_through_selective" else " saved few of them"
    )
    return f"{policy}{second}: another engine.hicache_write, or a load that uses prefixes again"


def no_swap_in(settings: Mapping[str, Any], counters: Counters) -> str:
    """Why no entry was fetched from the host: all of them were on the device, or none read."""
    hits = counters.get("hisparse_hits", 0)
    if not hits:
        return "no decode step read a compressed entry: longer prompts or replies are needed"
    room = f"fit the {settings.get('hisparse_buffer', '?')} entries of the device buffer"
    return f"all {hits:,} entries read {room}: lower engine.hisparse_buffer or use longer prompts"


def no_transfer(settings: Mapping[str, Any], counters: Counters) -> str:
    """Why nothing crossed the wire: no room was opened, or all of them failed."""
    rooms, failed = counters.get("rooms", 0), counters.get("rooms_failed", 0)
    if not rooms:
        return "no room was opened: raise workload.sessions"
    untold, late = counters.get("bootstrap_timeouts", 0), counters.get("waiting_timeouts", 0)
    ended = f"{failed:,} of {rooms:,} rooms failed, {untold:,} were not told their pages in time"
    remedy = "raise engine.bootstrap_timeout, engine.waiting_timeout or engine.decode_pool_pages"
    return f"{ended}, {late:,} did not get their bytes: {remedy}"


WHY: Mapping[str, Explain] = {
    "hicache": no_restore,
    "hisparse": no_swap_in,
    "pd": no_transfer,
}
