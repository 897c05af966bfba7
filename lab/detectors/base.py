"""What a detector is, what it may know, and in which order detectors are believed.

One rule: a detector looks at one reply and says in one phrase what is wrong, or None. It never
sees another reply; what other sessions own is in the ``Context``.

Ranks: a corrupt reply is counted under the fired detector of the lowest rank, the most telling:

* 1x  bytes of somebody else: ``foreign_secret``
* 2x  what the API's user sees as markup or endless text: ``leaked_markup`` and its likes for other
      formats, ``repeated_think_end``, ``loop``, ``tag_salad``, ``script_mix``
* 3x  a call that is missing: ``dropped_call``, ``empty_visible``
* 4x  a call that is there and wrong: ``unknown_tool``, ``malformed_arguments``,
      ``schema_violation``, ``wrong_value``
* 5x  ``wrong_text``: any other byte than the expected one, so nothing is ever missed
* 6x  not the model's fault: ``parser_fault``, ``nondeterminism``
* 7x  no whole reply: ``transport_error``, ``timed_out``, ``unfinished``

Where the right text is not known, what a healthy but weak model does by itself (``weakness``: a
call that it does not make, makes up or spells wrongly, a text that goes round) is ``missed``, and
proves nothing alone: judges hold its rate against that of an arm at concurrency 1. So is markup in
the text: parsers hand back a call whose JSON the model spelt wrongly, and a server that was told no
parser hands back every call. What no healthy model writes (another session's words, letters of
noise) is corrupt by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from lab.detectors.surface import text_known
from lab.records import Finding, Repeat, Reply
from lab.registry import Registry


class Kind(StrEnum):
    """Five things that are counted apart."""

    CORRUPT = "corrupt"  # the model's text is wrong
    MISSED = "missed"  # so it is, if the model is better than that: nobody knows its text
    PARSER_FAULT = "parser_fault"  # the text is right, or parsed otherwise than it reads
    UNFINISHED = "unfinished"  # no whole reply: neither clean nor corrupt
    NONDETERMINISTIC = "nondeterministic"


@dataclass(frozen=True)
class Context:
    """What a detector may know beside the reply.

    ``tools``   JSON Schema of the parameters of each offered tool
    ``owners``  word -> the sessions that may say it
    ``twin``    (session, turn) -> the text that must be equal, if there is one: in another arm, or
    of the session that asks the same
    ``asked_again``  session -> whose question it asks, and when
    """

    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    owners: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    twin: Mapping[tuple[int, int], str] = field(default_factory=dict)
    asked_again: Mapping[int, Repeat] = field(default_factory=dict)

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """The lengths of the words that have owners, in characters."""
        return tuple(sorted({len(word) for word in self.owners}))

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The rank of each word among those that have owners."""
        return {word: place for place, word in enumerate(self.owners)}


Look = Callable[[Reply, Context], str | None]
OUTCOME = {Kind.UNFINISHED: "unknown"}  # every other kind is a failure


@dataclass(frozen=True)
class Detector:
    """A named look; see the module for ``rank`` and ``weakness``."""

    name: str
    rank: int
    kind: Kind
    look: Look
    weakness: bool = False

    def __call__(self, reply: Reply, context: Context) -> Finding | None:
        """What it finds; a look that raises finds that it does not know."""
        try:
            detail = self.look(reply, context)
        except Exception as error:  # a detector's bug must never pass a reply
            return self._finding(reply, "unknown", f"{type(error).__name__}: {error}")
        return (detail and self._finding(reply, OUTCOME.get(self.kind, "fail"), detail)) or None

    def _finding(self, reply: Reply, outcome: str, detail: str) -> Finding:
        kind = Kind.MISSED if self.weakness and not text_known(reply) else self.kind
        return Finding(reply.session, reply.turn, self.name, outcome, detail, kind.value)


DETECTORS: Registry[Detector] = Registry("detector", "lab.detectors")


def detector(
    rank: int, kind: Kind = Kind.CORRUPT, *, weakness: bool = False
) -> Callable[[Look], Look]:
    """File a function as the detector of its own name."""

    def file(look: Look) -> Look:
        name: str = look.__name__
        DETECTORS.register(name)(Detector(name, rank, kind, look, weakness))
        return look

    return file
