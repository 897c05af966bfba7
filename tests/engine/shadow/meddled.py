"""A healthy engine that is meddled with before steps drawn at random, and what those steps find."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from engine.config import EngineConfig
from engine.engine import Engine
from engine.sched.batch import Batch, DecodeBatch, PrefillBatch
from engine.shadow.reading import AS_PROMPT
from tests.engine.shadow.misled import CHANGES
from tests.engine.shadow.perturbations import (
    Change,
    Meddle,
    Site,
    key_byte,
    window_byte,
)
from tests.engine.waves import SESSIONS, Waves, play

Work = Callable[[], tuple[list[int], float]]
FIRST = 8  # decode steps that are left alone


class Enough(Exception):
    """Nothing more is to be learnt of this engine."""


@dataclass
class Case:
    """A change, and the violations of the step behind it."""

    name: str
    expected: Change
    seen: list[dict[str, Any]]

    @property
    def right(self) -> bool:
        """Each name that was expected is there, and no other event."""
        fields = self.expected.fields.items()
        names = sorted({event["name"] for event in self.seen})
        fits = all(fields <= event.items() for event in self.seen)
        return fits and names == sorted(filter(None, self.expected.name.split("+")))

    def __str__(self) -> str:
        return f"{self.name}: expected {self.expected[:2]}, found {self.seen}"


class Meddled:
    """The runner of an engine. ``last`` is done once, at a step drawn at random, for good."""

    def __init__(self, engine: Engine, seed: int, last: Meddle | None) -> None:
        self._engine, self._runner, self._last = engine, engine.runner, last
        self._rng, self._steps = Random(seed), 0
        self._end = self._rng.randrange(FIRST, 40)
        self._done: set[Hashable] = set()
        self.cases: list[Case] = []
        engine.runner = self  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runner, name)

    def launch(self, batch: Batch, late_s: float = 0.0) -> Work:
        meddle, site = self._row(batch) if isinstance(batch, DecodeBatch) else self._chunk(batch)
        change = meddle(site) if meddle and site else None
        work = self._runner.launch(batch, late_s)
        return self._watched(meddle.__name__, change, work) if meddle and change else work

    def _row(self, batch: DecodeBatch) -> tuple[Meddle | None, Site]:
        self._steps += 1
        at = self._rng.randrange(len(batch.reqs))
        req, position = batch.reqs[at], batch.seq_lens[at] - 1
        return self._choose(), Site(self._engine, req, position, self._rng, self._done)

    def _chunk(self, batch: PrefillBatch) -> tuple[Meddle | None, Site | None]:
        """A chunk that goes on; its tokens read the window before it, its last one every key."""
        later = [chunk for chunk in batch.chunks if chunk.start]
        if not later or self._last is not None:
            return None, None
        chunk = self._rng.choice(later)
        meddle = self._rng.choice([window_byte, key_byte] if chunk.last else [window_byte])
        site = Site(self._engine, chunk.req, chunk.start, self._rng, self._done, AS_PROMPT)
        return meddle, site

    def _choose(self) -> Meddle | None:
        if self._last is not None:
            if self._steps > self._end:
                raise Enough
            return self._last if self._steps == self._end else None
        return self._rng.choice(CHANGES) if self._steps > FIRST else None

    def _watched(self, name: str, change: Change, work: Work) -> Work:
        def watched() -> tuple[list[int], float]:
            before = len(violations(self._engine))
            found = work()
            self.cases.append(Case(name, change, violations(self._engine)[before:]))
            change.undo()
            return found

        return watched


def violations(engine: Engine) -> list[dict[str, Any]]:
    return [event.fields for event in engine.events.events if event.kind == "violation"]


def meddle(
    config: EngineConfig, seed: int, last: Meddle | None = None, sessions: int = 3, tokens: int = 60
) -> tuple[Sequence[Case], list[dict[str, Any]]]:
    """The cases of one load, and whatever was found that belongs to none of them."""
    made: list[Meddled] = []

    async def story(waves: Waves) -> None:
        made.append(Meddled(waves.engine, seed, last))
        replies = (waves.reply(each, tokens) for each in SESSIONS[:sessions])
        ends = await asyncio.gather(*replies, return_exceptions=True)
        failed = [end for end in ends if isinstance(end, BaseException)]
        assert all(isinstance(end, Enough) for end in failed), failed

    waves = play(config, story)
    told = [event for case in made[0].cases for event in case.seen]
    return made[0].cases, [event for event in violations(waves.engine) if event not in told]
