"""What a server counted while an arm ran: its own metrics, before and after, under our names.

One rule: a counter that the server does not have is not there; one that it has and that did not
move is a zero.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import httpx

from lab.exposure import ALWAYS_SAID, EXERCISED_BY
from lab.profiles.readback import Readback
from lab.targets.documents import INFO, fetched

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lab.profiles.models import Exposure

SERIES = re.compile(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
MAXIMUM = "largest:"  # of our engine's counters those that only rise to a limit


async def counters(
    http: httpx.AsyncClient, exposure: Exposure, urls: Sequence[str] = ("",)
) -> dict[str, float]:
    """Our counters as the server has them now, over all of ``urls``; '' is the one that answers."""
    found: dict[str, float] = {}
    for url in urls if exposure.counters else ():
        answer = await fetched(http, url + exposure.path)
        if answer is None or answer.status_code != httpx.codes.OK:
            continue
        read = _prometheus if exposure.form == "prometheus" else _json
        for name, value in read(answer.text, exposure.counters):
            found[name] = found.get(name, 0) + value
    return found


async def own_counters(http: httpx.AsyncClient) -> dict[str, float]:
    """All counters of a `kvlab serve`, the ledger's too: what an arm in this process would have."""
    answer = await fetched(http, INFO[0])
    if answer is None or answer.status_code != httpx.codes.OK:
        return {}
    told = answer.json().get("counters", {})
    names = (*ALWAYS_SAID, *(name for names in EXERCISED_BY.values() for name in names))
    zeros = {name: 0.0 for name in names if name != "clients_left"}  # the driver's own
    return zeros | {name: n for name, n in told.items() if not name.startswith(MAXIMUM)}


def moved(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, int]:
    """By how much each counter rose; a server that began anew counts from zero."""
    rose = {name: value - before.get(name, 0) for name, value in after.items()}
    return {name: round(n if n >= 0 else after[name]) for name, n in rose.items()}


def _prometheus(text: str, wanted: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    """Each series that a wanted metric has, under our name."""
    asked = {key: _series(key) for key in wanted}
    for line in text.splitlines():
        series = None if line.startswith("#") else SERIES.match(line)
        if series is None:
            continue
        labels = dict(LABEL.findall(series[2] or ""))
        for key, (name, needed) in asked.items():
            if series[1] == name and needed.items() <= labels.items():
                yield wanted[key], _number(series[3])


def _series(key: str) -> tuple[str, dict[str, str]]:
    name, _, labels = key.partition("{")
    return name, dict(LABEL.findall(labels))


def _json(text: str, wanted: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    document = _document(text)
    for key, name in wanted.items():
        value = Readback(key=key).of_json(document)
        if isinstance(value, int | float):
            yield name, float(value)


def _document(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _number(text: str) -> float:
    """A sample's value; NaN, which some servers say of what they never measured, is nothing."""
    value = float(text)
    return 0.0 if value != value else value
