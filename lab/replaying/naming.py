"""The file of a shortened scenario. One rule: no two cases of a run have the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SIGNS = re.compile(r"[^a-z0-9]+")


def file_of(session: int, arm: str, arms: Sequence[str]) -> str:
    """``session-5.yaml``; where a run has several ``arms``, ``session-5-bf16-overlap-on.yaml``."""
    if len(arms) == 1:
        return f"session-{session}.yaml"
    slugs = [_slug(name) for name in arms]
    if "" in slugs or len({*slugs}) < len(slugs):
        slugs = [f"{number}-{slug}".strip("-") for number, slug in enumerate(slugs, 1)]
    return f"session-{session}-{slugs[arms.index(arm)]}.yaml"


def _slug(name: str) -> str:
    """A name as part of a file's: empty where none of its signs can be."""
    return SIGNS.sub("-", name.lower()).strip("-")
