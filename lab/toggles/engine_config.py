"""From settings to the engine's own configuration. One rule: nothing is dropped in silence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engine.config import EngineConfig
from lab.toggles.registry import TOGGLES


def to_engine_config(
    settings: dict[str, Any], *, build: tuple[str, ...] = (), seed: int = 0
) -> EngineConfig:
    """The engine that ``settings`` (every toggle's value by key) ask for.

    The load's own toggles are the driver's, with one exception: the engine admits as many requests
    as the load keeps open, so that ``concurrency`` is the batch size it claims to be.
    Raises `engine.errors.ConfigError` where the values cannot work together.
    """
    values = {key: settings[key] for key, t in TOGGLES.all().items() if t.applies == "engine"}
    base = EngineConfig(build=build, seed=seed)
    model = replace(base.model, index_topk=values.pop("index_topk"))
    room = max(base.max_running, settings["concurrency"])
    return replace(base, model=model, max_running=room, **values)
