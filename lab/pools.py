"""The arms of a run as misses are counted: repetitions together, and each with its control.

One rule: flags are what a server was started with; how it is asked (`LOAD`) is none of them. The
control of an arm has its flags, and is asked one at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lab.exposure import boot_of
from lab.looked import sessions
from lab.records import NO_DIGEST
from lab.repeats import first_of
from lab.toggles import TOGGLES

if TYPE_CHECKING:
    from lab.looked import Looked

LOAD = frozenset(key for key, toggle in TOGGLES.all().items() if toggle.applies == "load")
ALONE = 1
Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Pool:
    """An arm with its repetitions, those with one history once; ``places`` are theirs in the run.

    ``counts`` are wrong sessions, corrupt or missed, and those that show anything, one by one.
    """

    name: str
    settings: Settings
    places: tuple[int, ...]
    counts: tuple[tuple[int, int], ...]
    missed: int
    boots: frozenset[int | None]

    @cached_property
    def wrong(self) -> int:
        """Sessions that are corrupt or missed."""
        return sum(k for k, _ in self.counts)

    @cached_property
    def sessions(self) -> int:
        """Those that show anything."""
        return sum(n for _, n in self.counts)

    @property
    def alone(self) -> bool:
        """Whether it was asked one at a time."""
        return self.settings.get("concurrency") == ALONE

    @property
    def said(self) -> str:
        """``3 of 60``."""
        return f"{self.wrong} of {self.sessions}"


def pools(arms: Sequence[Looked]) -> list[Pool]:
    """The arms, each with its repetitions, in the order of the first ones."""
    histories = [arm.history for arm in arms]
    known = {it.name: it for it in histories}
    groups: dict[str, list[int]] = {}
    for place, history in enumerate(histories):
        groups.setdefault(first_of(history, known).name, []).append(place)
    return [_pool(arms, places) for places in groups.values()]


def _pool(arms: Sequence[Looked], places: Sequence[int]) -> Pool:
    kept: dict[str, Looked] = {}
    for place in places:
        history = arms[place].history
        own = history.name if history.history_digest == NO_DIGEST else history.history_digest
        kept.setdefault(own, arms[place])
    first = arms[places[0]].history
    return Pool(
        name=first.name,
        settings=first.settings,
        places=tuple(places),
        counts=tuple((len(_wrong(it)), len(it.judged)) for it in kept.values()),
        missed=sum(len(it.sessions_missed) for it in kept.values()),
        boots=frozenset(boot_of(it.history) for it in kept.values()),
    )


def _wrong(arm: Looked) -> set[int]:
    return sessions(arm.corrupt) | sessions(arm.missed)


def control_of(all_settings: Sequence[Settings], at: int) -> int | None:
    """The place of the control of the arm ``at``: itself where it is asked one at a time."""
    own = all_settings[at]
    if own.get("concurrency") == ALONE:
        return at
    equal = [
        place
        for place, it in enumerate(all_settings)
        if it.get("concurrency") == ALONE and not unlike_flags(it, own)
    ]
    return min(equal, key=lambda place: len(unlike(all_settings[place], own)), default=None)


def unlike(a: Settings, b: Settings) -> list[str]:
    """The keys in which two arms differ, in order."""
    return [key for key in dict.fromkeys((*a, *b)) if a.get(key) != b.get(key)]


def unlike_flags(a: Settings, b: Settings) -> list[str]:
    """Those of them that are flags of the server."""
    return [key for key in unlike(a, b) if key not in LOAD]
