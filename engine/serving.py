"""Which engine a configuration asks for. One rule: whoever serves asks here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.disagg.pair import Pair
from engine.engine import Engine

if TYPE_CHECKING:
    from engine.config import EngineConfig
    from kernels.ops import Ops


def open_engine(config: EngineConfig, ops: Ops | None = None) -> Engine | Pair:
    """One engine, or a prefill and a decode engine as one. Raises ``ConfigError``."""
    return Pair(config, ops) if config.pd else Engine(config, ops)
