"""What a server counted while an arm ran: its own metrics, before and after, under our names.

One rule: a counter that the server does not have is not there; one that it has and that did not
move is a zero.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

import httpx

from lab.exposure import ALWAYS_SAID, EXERCISED_BY
from lab.profiles.readback import Readback
from lab.targets.documents import INFO, fetched, read_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lab.launching.servers import Server
    from lab.profiles import Profile
    from lab.profiles.models import Exposure

KVLAB = "kvlab"
SERIES = re.compile(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
MAXIMUM = "largest:"  # of our engine's counters those that only rise to a limit


@dataclass(frozen=True)
class Counting:
    """How one server is asked for its counters; ``maker`` is whose server it says that it is."""

    http: httpx.AsyncClient
    server: Server
    profile: Profile | None
    maker: str

    async def read(self) -> dict[str, float]:
        """Our counters as the server has them now."""
        if self.maker == KVLAB:
            return await own_counters(self.http)
        known = self.profile or _shipped(self.maker)
        if known is None:
            return {}
        nodes, urls = known.exposure.nodes, self.server.urls
        found = await counters(self.http, known.exposure, [urls.get(node, "") for node in nodes])
        if self.profile is not None:
            for node in nodes or (known.endpoint,):
                _add(found, self._logged(known.exposure, node))
        return found

    def _logged(self, exposure: Exposure, node: str) -> dict[str, int]:
        log = self.server.logs.get(node)
        if not exposure.logs or log is None or not log.exists():
            return {}
        return exposure.of_log(log.read_text(errors="replace"))


async def counters(
    http: httpx.AsyncClient, exposure: Exposure, urls: Sequence[str] = ()
) -> dict[str, float]:
    """The counters of a profile, over all of ``urls``; of none: of the server that answers."""
    found: dict[str, float] = {}
    for url in dict.fromkeys(urls or ("",)) if exposure.counters else ():
        answer = await fetched(http, url + exposure.path)
        if answer is not None and answer.status_code == httpx.codes.OK:
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


async def own_counters(http: httpx.AsyncClient) -> dict[str, float]:
    """All counters of a `kvlab serve`, the ledger's too: what an arm in this process would have."""
    told = Readback(key="counters").of_json(read_json(await fetched(http, INFO[0])))
    if not isinstance(told, dict):
        return {}
    names = (*ALWAYS_SAID, *(name for names in EXERCISED_BY.values() for name in names))
    zeros = {name: 0.0 for name in names if name != "clients_left"}  # the driver's own
    counted = {name: n for name, n in told.items() if isinstance(n, int | float)}
    return zeros | {name: n for name, n in counted.items() if not name.startswith(MAXIMUM)}


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
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if isfinite(value) else 0.0
