"""Whether an arm went where its settings point. One rule: a path never taken proves nothing.

Each toggle that can be on without being exercised names the counters of which one must have moved;
`remedies.py` says why none did. ``deferred_release`` names none: what it does to failed rooms is
idle, as it should be, where none fails.
A counter with a colon in its name is an instrument of its own (a violation, a copy path, a pool's
digests): stored with the arm, and no exposure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lab.toggles import TOGGLES

if TYPE_CHECKING:
    from lab.records import ArmHistory

FOREIGN = "server"  # the event that names somebody else's server: where its arm was driven
GENERATOR = "generator"  # the remark that says how late the driver's own loop ran
FLUSHED = "cache_flush"  # the remark that says whether a server's caches were emptied before
COUNTED = "server_counts"  # the remark that says whether what a server counts is known
UNHEARD = "server_unheard"  # the remark that a server did not answer after its arm
WARNS = (GENERATOR, FLUSHED, COUNTED, UNHEARD)  # whose `warning`, if any, is said of their arm
VIOLATION, FAULT = "violation:", "fault:"
# What an engine may have wrong that destroys no row: it stands beside the violations, and makes no
# arm corrupt.
FAULTS = (
    *("bootstrap_loop_died", "metadata_false_alarm", "no_progress"),
    *("ranks_ran_different_batches", "room_failed_though_complete"),
)

# In every document, so that whoever reads it finds a zero where a counter never moved.
ALWAYS_SAID = (
    *("padded_rows", "host_hits", "pages_restored", "transfers", "aborts_in_flight"),
    *("prefix_hits", "retractions", "evicted_pages", "large_prefill_rows"),
)
EXERCISED_BY: Mapping[str, tuple[str, ...]] = {
    "radix": ("prefix_hits",),
    "graph": ("graph_replays",),
    "overlap": ("overlap_steps",),
    "hicache": ("pages_restored",),
    "hisparse": ("hisparse_swap_ins",),
    "abort_rate": ("clients_left",),
    "pd": ("transfers",),
    "tp": ("collectives",),
}
# Toggles of launch profiles that the bundled engine has under another name, or not at all.
# Others count in tokens what it counts in pages.
EXERCISED_ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "prefix_caching": ("prefix_hits",),
    "hicache": ("pages_restored", "restored_tokens"),
}
OURS = ("abort_rate",)  # counted by the driver, whatever the server is
OFF: Mapping[str, object] = {"tp": 1}  # one rank has nobody to agree with


def is_foreign(history: ArmHistory) -> bool:
    """Whether the arm was driven against a server of which we know what it says."""
    return any(kind == FOREIGN for _, kind, _ in history.events)


def boot_of(history: ArmHistory) -> int | None:
    """The number of the boot that served the arm; None where no server was launched for it."""
    of = next((fields for _, kind, fields in history.events if kind == FOREIGN), {})
    return of.get("boot") or None


def exposure(counters: Mapping[str, int], foreign: bool = False) -> dict[str, int]:
    """The counters that say how far an arm went, among them ``ALWAYS_SAID`` of our own engine:
    a foreign server's are those that it told.
    """
    moved = {name: n for name, n in counters.items() if ":" not in name}
    return moved if foreign else dict.fromkeys(ALWAYS_SAID, 0) | moved


def reported(exposure: Mapping[str, int], key: str) -> bool:
    """Whether an arm's exposure says anything of ``key``: our own engine counts from zero whatever
    it counts, somebody's server has the counters that it has.
    """
    return key in exposure or ALWAYS_SAID[0] in exposure


def violations(counters: Mapping[str, int]) -> dict[str, int]:
    """The invariants that were seen broken, and how often."""
    return _named(VIOLATION, counters)


def faults(counters: Mapping[str, int]) -> dict[str, int]:
    """The faults that were seen, and how often."""
    return _named(FAULT, counters)


def _named(prefix: str, counters: Mapping[str, int]) -> dict[str, int]:
    found = {n.removeprefix(prefix): c for n, c in counters.items() if n.startswith(prefix)}
    return {name: count for name, count in found.items() if count}


def unexercised(
    settings: Mapping[str, Any], counters: Mapping[str, int], foreign: bool = False
) -> list[str]:
    """The toggles that are on and were never exercised; of a foreign server those of which it
    counts it.
    """
    asked = {**EXERCISED_BY, **EXERCISED_ELSEWHERE} if foreign else EXERCISED_BY
    return [
        key
        for key, names in asked.items()
        if _on(key, settings)
        and not any(counters.get(name, 0) for name in names)
        and (not foreign or any(name in counters for name in names) or key in OURS)
    ]


def _on(key: str, settings: Mapping[str, Any]) -> bool:
    """Whether the toggle asks for anything: set, and one of the switches that it needs is on."""
    value, ours = settings.get(key), TOGGLES.all().get(key)
    needs = ours.needs if ours else ()
    wanted = bool(value) and value != OFF.get(key)
    return wanted and (not needs or any(settings.get(switch) for switch in needs))
