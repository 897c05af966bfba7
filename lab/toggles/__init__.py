"""What an operator could flip, one toggle a file; `registry.py` says what a toggle is."""

from lab.toggles.engine_config import to_engine_config
from lab.toggles.registry import TOGGLES, Toggle, defaults

__all__ = ["TOGGLES", "Toggle", "defaults", "to_engine_config"]
