"""What `GET /metrics` answers: the engine's counters, as Prometheus reads them.

One rule: nothing is counted here; a counter's own name is its label.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
EXPOSURE = "exposure"
COUNTED = {
    EXPOSURE: "How often a path was taken.",
    "violation": "How often an invariant was seen broken.",
    "fault": "How often a fault was seen that destroys no row.",
}
INSTRUMENT = "What an instrument of the engine reads: copies by their path, the largest sizes."
HELD = {
    "running": "Requests that are computed.",
    "waiting": "Requests that wait to be admitted.",
    "free_pages": "Pages of the pool that nobody holds.",
    "cached_pages": "Pages of the pool that the prefix cache holds.",
}


def exposition(info: Mapping[str, Any], alive: bool, always: Iterable[str] = ()) -> str:
    """The metrics of an engine that states ``info``; ``always`` are the counters that are told as 0
    where they never moved. The decode side of a pair has gauges of its own.
    """
    counters = dict.fromkeys(always, 0) | dict(info.get("counters", {}))
    parts = [_family("up", "gauge", "Whether the engine can serve.", {"": int(alive)})]
    for kind, about in COUNTED.items():
        parts.append(_family(f"{kind}_total", "counter", about, _of(kind, counters)))
    parts.append(_family("instrument", "gauge", INSTRUMENT, _others(counters)))
    for side, where in (("", ""), ("decode_", " On the decode side.")):
        for name, about in HELD.items():
            if (value := info.get(side + name)) is not None:
                parts.append(_family(side + name, "gauge", about + where, {"": value}))
    return "".join(parts)


def _of(kind: str, counters: Mapping[str, int]) -> dict[str, int]:
    """Counters of one kind; those without a colon are exposure."""
    if kind == EXPOSURE:
        return {name: n for name, n in counters.items() if ":" not in name}
    head = f"{kind}:"
    return {name.removeprefix(head): n for name, n in counters.items() if name.startswith(head)}


def _others(counters: Mapping[str, int]) -> dict[str, int]:
    return {
        name: n
        for name, n in counters.items()
        if ":" in name and name.partition(":")[0] not in COUNTED
    }


def _family(name: str, kind: str, about: str, values: Mapping[str, int]) -> str:
    """One metric; a value without a name has no label."""
    lines = [f"# HELP kvlab_{name} {about}", f"# TYPE kvlab_{name} {kind}"]
    for label, value in sorted(values.items()):
        lines.append(
            f'kvlab_{name}{{name="{label}"}} {value}' if label else f"kvlab_{name} {value}"
        )
    return "\n".join(lines) + "\n"
