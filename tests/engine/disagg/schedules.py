"""Random schedules: who asks for what and when, when it is aborted, and under which settings."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from engine.config import EngineConfig
from engine.handle import Handle
from tests.engine.disagg import pairs
from tests.engine.sched.fakes import prompt, reply

EACH = 50  # schedules of a setting, of which there are twenty
LENGTHS = (1, 130, 255, 256, 257, 500, 513, 700, 1030)
MOST = (1, 1, 2, 5, 12, 20)
NEVER = 1e9
HOWS = ("never",) * 3 + ("time",) * 2 + ("event",) * 3 + ("read",)  # what an abort waits for
Question = tuple[list[int], list[int], int]  # prompt, right reply, max_tokens
Ask = Callable[[random.Random], Question]


DEFERRED, OVERLAP, TWO = {"deferred_release": True}, {"overlap": True}, {"tp": 2}
LATE, UNTOLD = {"waiting_timeout": 0.25}, {"bootstrap_timeout": 0.1}
FEW = {"metadata_slots": 1}
TIGHT = {"decode_pool_pages": 6, "pool_pages": 7, "metadata_slots": 2}
DIRTY = {"poison_free_pages": True, "allocator": "random"}
SETTINGS: list[dict[str, Any]] = [
    {},
    DEFERRED,
    OVERLAP,
    OVERLAP | DEFERRED | DIRTY,
    FEW,
    FEW | DEFERRED | OVERLAP,
    TIGHT,
    TIGHT | DEFERRED | DIRTY,
    LATE,
    LATE | DEFERRED,
    LATE | TIGHT | OVERLAP | DIRTY,
    UNTOLD | FEW,
    UNTOLD | DEFERRED | TIGHT,
    {"hicache": True, "queue_size": 1, "workers": 1},
    {"hicache": True} | OVERLAP | DEFERRED | DIRTY,
    TWO,
    TWO | DEFERRED | OVERLAP,
    TWO | LATE | DEFERRED,
    TWO | LATE | TIGHT | DIRTY,
    TWO | UNTOLD | TIGHT | DEFERRED,
]


def title(toggles: dict[str, Any]) -> str:
    """A setting's name in a test's."""
    return "+".join(f"{key}={value}" for key, value in toggles.items()) or "default"


def setting(seed: int, **toggles: Any) -> EngineConfig:
    """Tight pools, a slow wire: every stage of a room lasts long enough to be aborted in."""
    sizes: dict[str, Any] = {
        "pool_pages": 14,
        "decode_pool_pages": 11,
        "max_running": 4,
        "graph": False,
        "chunked_prefill": 256,
        "workers": 2,
        "queue_size": 2,
        "wire_gb_per_s": 0.2,
        "seed": seed,
    }
    return pairs.config(**(sizes | toggles))


@dataclass
class Asked:
    """One request of a schedule. ``at_s`` and ``abort_s`` count from its beginning."""

    prompt: list[int]
    right: list[int]  # the whole reply
    most: int
    at_s: float
    abort_s: float
    abort_after: int  # tokens read
    abort_on: int  # events and landings of the pair since it came
    twice: bool
    handle: Handle | None = None
    error: Exception | None = None
    aborted: bool = False
    got: list[int] = field(default_factory=list)


def schedule(seed: int, ask: Ask) -> list[Asked]:
    """Three to eight requests; about two thirds of them are to be aborted."""
    rng = random.Random(f"abort schedule {seed}")
    spread = rng.choice([0.0, 0.02, 0.5])
    return [_asked(rng, ask, spread) for _ in range(rng.randint(3, 8))]


def a_few_prefixes(rng: random.Random) -> Question:
    """A request of the model that computes nothing: one of four prefixes, and an end of its own."""
    tokens = [*prompt(rng.randrange(4), rng.choice(LENGTHS)), *prompt(rng.randrange(99), 3)]
    most = rng.choice(MOST)
    return tokens, reply(tokens, most), most


def _asked(rng: random.Random, ask: Ask, spread: float) -> Asked:
    tokens, right, most = ask(rng)
    how = rng.choice(HOWS)
    return Asked(
        prompt=tokens,
        right=right,
        most=most,
        at_s=rng.uniform(0.0, spread),
        abort_s=10 ** rng.uniform(-4, 0.3) if how == "time" else NEVER,
        abort_after=rng.randint(0, 10) if how == "read" else int(NEVER),
        abort_on=rng.randint(0, 60) if how == "event" else int(NEVER),
        twice=rng.random() < 0.2,
    )
