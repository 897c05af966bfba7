"""What a reply read before it went wrong. One rule: a read is not yet a cause.

So what speaks against it is said: how far the wrong token is, and how many that read so are right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.explaining.damage import Damage
    from lab.explaining.explanation import Explanation

LISTED = 5  # numbers in a sentence
CHOOSES = (
    "Rows of index_k only choose which rows are read: one that was not selected, and should not "
    "have been, does no harm; no event says which it was."
)


def distance(it: Explanation) -> int | None:
    """How many tokens before the wrong one the read computed its own; None where nobody says."""
    if it.effect is None or it.wrong is None or it.how != "read":
        return None
    return it.wrong.index - it.effect.number("output") if "output" in it.effect.fields else None


def about_the_read(it: Explanation) -> list[str]:
    """Whether it is near the wrong token, what was read before it, and who else read such a row."""
    told = [_near(it), _earlier(it)]
    if it.effect is not None and it.how == "read" and it.effect.text("pool") == "index_k":
        told.append(CHOOSES)
    return [each for each in [*told, _base(it)] if each]


def _near(it: Explanation) -> str:
    far = distance(it)
    if far is None or it.wrong is None:
        return ""
    last = it.wrong.index - 1
    if not far:
        return "The step computed the first wrong token itself."
    if far == 1:
        return f"Token {last:,}, sampled at this read, is still right."
    return (
        f"Tokens {last - far + 1:,} to {last:,}, sampled at and after this read, are still right."
    )


def _base(it: Explanation) -> str:
    if it.base is None or not it.base.replies:
        return ""
    many, right = it.base
    which = "1 reply" if many == 1 else f"{many:,} replies"
    return f"{right:,} of {which} of this arm that read such a row came out right."


def _earlier(it: Explanation) -> str:
    """The reads of other steps, by the tokens that they computed; of the same step the layers."""
    others = [read for read in it.reads if read is not it.effect]
    if not others or it.effect is None:
        return ""
    events = "1 other event tells" if len(others) == 1 else f"{len(others):,} other events tell"
    tokens = sorted({read.number("output") for read in others if "output" in read.fields})
    what = "token" if len(tokens) == 1 else "tokens"
    which = f" (for {what} {_listed(tokens)} of its reply)" if tokens else ""
    return f"{events} of wrong rows that it read by then{which}: {_spans(others)}."


def _spans(reads: Sequence[Damage]) -> str:
    """``index_k layer 0, 1; c4 layer 0; read_uninitialised_row``: all that was read."""
    layers: dict[str, set[int]] = {}
    for read in reads:
        if pool := read.text("pool"):
            layers.setdefault(pool, set()).add(read.number("layer"))
    told = [f"{pool} layer {_listed(sorted(each))}" for pool, each in layers.items()]
    return "; ".join([*told, ", ".join(dict.fromkeys(read.name for read in reads))])


def _listed(numbers: Sequence[int]) -> str:
    more = len(numbers) - LISTED
    told = ", ".join(f"{number:,}" for number in numbers[:LISTED])
    return f"{told} and {more:,} more" if more > 0 else told
