"""A probe's options as a user gives them. One rule: a shape that cannot be is one line."""

from __future__ import annotations

from engine.errors import ConfigError
from engine.probe.shape import FIXED_LAYERS, ProbeShape
from lab.errors import UserError


def shape_of(
    dtype: str, context: int, layers: int, kv_heads: int, heads: int, head_dim: int
) -> ProbeShape:
    """The shape; ``layers`` counts all of them. Raises ``UserError``."""
    copies = layers - FIXED_LAYERS
    if copies < 1:
        raise UserError(f"layers: {layers}; accepted: {FIXED_LAYERS + 1} or more")
    try:
        return ProbeShape(copies, heads, kv_heads, head_dim, context, dtype)
    except ConfigError as error:
        raise UserError(f"probe: {error}") from None
