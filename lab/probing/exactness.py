"""What the probe says in a float64 forward of our own, beside what integers say that it must.

One rule: one forward over a prompt and its due replies is a greedy decode where every token is
right, and where one is not, its place is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING, Any

import torch

from engine.probe.forward import Network
from engine.probe.margins import MarginWatch
from engine.text.tokenizer import decode
from lab.probing.conversations import conversation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from engine.probe.shape import ProbeShape

    Tensors = Mapping[str, NDArray[np.float32]]


def exactness(tensors: Tensors, shape: ProbeShape, seed: int = 0) -> dict[str, Any]:
    """``context``, ``tokens``, ``wrong``, ``first_wrong`` and the margins, as `Report` has them."""
    asked = conversation(seed, shape.context)
    if not asked.said:
        return {}
    watch = MarginWatch(shape, asked.ids, asked.said)
    logits = Network(tensors, shape).forward(torch.tensor(asked.ids), watch=watch)
    wrong = watch.logits(logits)
    margins = {name: gap for name, gap in asdict(watch.margins).items() if isfinite(gap)}
    return {
        "context": len(asked.ids),
        "tokens": len(asked.said),
        "wrong": len(wrong),
        "first_wrong": _told(wrong[0], logits, asked.ids) if wrong else "",
        "margins": margins,
    }


def _told(place: int, logits: torch.Tensor, ids: tuple[int, ...]) -> str:
    said = decode([int(logits[place - 1].argmax())])
    return f"token {place} is {said!r} instead of {decode([ids[place]])!r}"
