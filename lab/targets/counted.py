"""What a server counted while an arm ran: its own metrics, before and after, under our names.

One rule: a counter that the server does not have is not there; one that it has and that did not
move is a zero; of one that was not read before and after, on one server, nothing is known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any

import httpx

from lab.exposure import ALWAYS_SAID, EXERCISED_BY
from lab.profiles.readback import Readback
from lab.targets.documents import INFO, fetched, read_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.launching.servers import Server
    from lab.profiles import Profile
    from lab.profiles.models import Exposure

KVLAB = "kvlab"
SERIES = re.compile(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
MAXIMUM = "largest:"  # of our engine's counters those that only rise to a limit
Reading = Mapping[str, Mapping[str, float]]  # counters by where they were read; an unread one lacks
TIMES = 2  # each time; whoever answers behind one address, two of them count differently
ALONE = {"Connection": "close"}  # or the same one of them would answer for ever
NOT_BEFORE, NOT_AFTER = "was not read before the arm", "was not read after the arm"
FELL = "fell: the server began anew, or several answer at one address"


@dataclass(frozen=True)
class Rose:
    """By how much each counter rose, and why some are not known: empty where all are."""

    counters: Mapping[str, int]
    warning: str = ""


@dataclass(frozen=True)
class Counting:
    """How one server is asked for its counters; ``maker`` is whose server it says that it is."""

    http: httpx.AsyncClient
    server: Server
    profile: Profile | None
    maker: str

    async def read(self) -> list[Reading]:
        """Our counters as the server has them now, ``TIMES`` over."""
        return [await self._read() for _ in range(TIMES)]

    async def _read(self) -> Reading:
        if self.maker == KVLAB:
            told = await own_counters(self.http)
            return {} if told is None else {INFO[0]: told}
        known = self.profile or _shipped(self.maker)
        return {} if known is None else await self._of_a_profile(known)

    async def _of_a_profile(self, known: Profile) -> Reading:
        """Those of each node that counts, and of its log."""
        exposure, found = known.exposure, {}
        nodes = exposure.nodes or (known.endpoint,)
        urls = [self.server.urls.get(node, "") for node in exposure.nodes] or [""]
        for url in dict.fromkeys(urls) if exposure.counters else ():
            told = await _counters(self.http, exposure, url)
            if told is not None:
                found[url + exposure.path] = told
        for node in nodes if self.profile is not None and exposure.logs else ():
            found[f"the log of {node}"] = self._logged(exposure, node)
        return found

    def _logged(self, exposure: Exposure, node: str) -> dict[str, float]:
        log = self.server.logs.get(node)
        if log is None or not log.exists():
            return {}
        return dict(exposure.of_log(log.read_text(errors="replace")))


async def _counters(
    http: httpx.AsyncClient, exposure: Exposure, url: str
) -> dict[str, float] | None:
    """The counters of a profile as the server at ``url`` has them; None where it does not say."""
    answer = await fetched(http, url + exposure.path, ALONE)
    if answer is None or answer.status_code != httpx.codes.OK:
        return None
    found: dict[str, float] = {}
    read = _prometheus if exposure.form == "prometheus" else _json
    for name, value in read(answer.text, exposure.counters):
        _add(found, {name: value})
    return found


def _add(found: dict[str, float], more: Mapping[str, float]) -> None:
    for name, value in more.items():
        found[name] = found.get(name, 0) + value


def _shipped(maker: str) -> Profile | None:
    """What is known of somebody's server by its maker alone."""
    from lab.profiles import known, load_profile

    return load_profile(maker) if maker in known() else None


async def own_counters(http: httpx.AsyncClient) -> dict[str, float] | None:
    """All counters of a `kvlab serve`, the ledger's too: what an arm in this process would have.
    None where it does not say.
    """
    told = Readback(key="counters").of_json(read_json(await fetched(http, INFO[0], ALONE)))
    if not isinstance(told, dict):
        return None
    names = (*ALWAYS_SAID, *(name for names in EXERCISED_BY.values() for name in names))
    zeros = {name: 0.0 for name in names if name != "clients_left"}  # the driver's own
    counted = {name: n for name, n in told.items() if isinstance(n, int | float)}
    return zeros | {name: n for name, n in counted.items() if not name.startswith(MAXIMUM)}


def moved(before: Sequence[Reading], after: Sequence[Reading]) -> Rose:
    """By how much each counter rose, over all that was read before and after; where some of it was
    not, a sum of zero is no zero, and is left out.
    """
    rose: dict[str, float] = {}
    unknown: dict[str, str] = {}
    for place in dict.fromkeys(key for reading in (*before, *after) for key in reading):
        was, came = _at(place, before), _at(place, after)
        if why := _unknown(was, came):
            unknown[place] = why
        else:
            _add(rose, {name: n - was[-1].get(name, 0) for name, n in came[0].items()})
    sure = {name: round(n) for name, n in rose.items() if n or not unknown}
    warning = "; ".join(f"{place} {why}" for place, why in unknown.items())
    return Rose(sure, f"the server's counts are not known: {warning}" if warning else "")


def _at(place: str, readings: Sequence[Reading]) -> list[Mapping[str, float]]:
    return [reading[place] for reading in readings if place in reading]


def _unknown(was: list[Mapping[str, float]], came: list[Mapping[str, float]]) -> str:
    """Why what rose is not known; empty where it is."""
    if not was or not came:
        return NOT_AFTER if was else NOT_BEFORE
    steps = pairwise([*was, *came])
    fell = any(after.get(name, 0) < n for earlier, after in steps for name, n in earlier.items())
    return FELL if fell else ""


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
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if isfinite(value) else 0.0
