"""Sessions of the probe: every reply of a real engine is known, those that it wrote before too.

A manual has shared and own entries; a turn names a key, and a share of the turns name one that the
session has asked for already, with a reference that would fill the entry's holes otherwise: the
reply then depends on what decode wrote for the first. One rule: the text of session i depends on
the seed, on its group and on i, never on how many sessions there are.

The reply is raw text in the message's content: no tools are offered to the server, and it is our
own parsers that read the calls out of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import ClassVar, Self

from pydantic import Field, model_validator

from engine.probe import text
from engine.probe.codes import NONCE_ALPHABET, REF_LENGTH
from engine.probe.replies import differs, reply, symbols
from engine.scribe import manual
from engine.text.tokenizer import ASSISTANT, SPELLING
from lab.records import SessionPlan, TurnPlan
from lab.workloads.arrivals import pauses
from lab.workloads.base import WORKLOADS, WorkloadModel
from lab.workloads.manuals import INTRODUCTION, TOOLS, Words
from lab.workloads.sharing import in_groups

Asked = tuple[text.Entry, str, str]  # a turn: its entry, its reference, the first for this entry

BEYOND = "the bundled model cannot follow the probe's manual: target: a server with its checkpoint"


@WORKLOADS.register("probe_sessions")
class ProbeSessions(WorkloadModel):
    """Parameters of the load. An entry is about 290 tokens; session i is of group i mod ``groups``.

    ``entries`` are a manual's, ``shared_entries`` of them its group's and first; ``repeats`` is the
    share of turns that ask again. Damage to an entry that nobody asks for is silent: by default a
    session asks for all of its four, and again for two of them.
    """

    own_sizes: ClassVar[tuple[str, ...]] = ("turns", "groups", "shared_entries", "max_tokens")
    texts_known: ClassVar[bool] = True

    turns: int = Field(default=6, ge=1, le=64)
    groups: int = Field(default=4, ge=1)
    entries: int = Field(default=4, ge=1, le=100)
    shared_entries: int = Field(default=2, ge=0, le=100)
    repeats: float = Field(default=0.4, ge=0, le=1)
    max_tokens: int = Field(default=300, ge=1)

    @model_validator(mode="after")
    def _enough_entries(self) -> Self:
        if self.shared_entries > self.entries:
            raise ValueError(f"shared_entries: {self.shared_entries} of {self.entries} entries")
        if self.first_asked > self.entries:
            raise ValueError(
                f"{self.first_asked} of {self.turns} turns ask for an entry of their own; "
                f"there are {self.entries}: more entries, or more repeats"
            )
        return self

    @property
    def first_asked(self) -> int:
        """Turns that ask for an entry for the first time."""
        return self.turns - min(self.turns - 1, round(self.turns * self.repeats))

    def plan(self, seed: int) -> list[SessionPlan]:
        """The sessions; equal parameters and seeds give equal plans."""
        words = Words(alphabet=NONCE_ALPHABET)
        return in_groups(
            seed,
            self,
            lambda rng: _entries(rng, words, self.shared_entries),
            lambda index, group, shared: self._session(seed, index, group, shared, words),
        )

    def longest_context(self) -> int:
        """Tokens: the longest manual there can be, and every turn run away to ``max_tokens``."""
        head = manual.token_count(INTRODUCTION + manual.RULES_TEXT)
        return head + self.entries * LONGEST_ENTRY + self.turns * (LONGEST_TURN + self.max_tokens)

    def beyond_bundled(self) -> str:
        """All of it is."""
        return BEYOND

    def _session(
        self, seed: int, index: int, group: int, shared: Sequence[text.Entry], words: Words
    ) -> SessionPlan:
        rng = Random(f"{seed}/session/{index}")
        own = _entries(rng, words, self.entries - self.shared_entries)
        asked = self._asked(rng, [*shared, *own], words)
        said = [symbols(entry, first) for entry, ref, first in asked if ref == first]
        secrets = [word for entry in own for word in (entry.key, entry.value)]
        return SessionPlan(
            index=index,
            group=group,
            system=system([*shared, *own]),
            tools=TOOLS,
            turns=tuple(_turn(turn, *it) for turn, it in enumerate(asked)),
            secrets=(*secrets, *said, *(ref for _, ref, _ in asked)),
            start_s=0.0,
            think_s=pauses(seed, index, self.turns, self.think_s),
            raw=True,
        )

    def _asked(self, rng: Random, entries: Sequence[text.Entry], words: Words) -> list[Asked]:
        """What each turn asks for: new entries in no order, and among them some once more."""
        new = iter(rng.sample(entries, self.first_asked))
        again = sorted(rng.sample(range(1, self.turns), self.turns - self.first_asked))
        asked: list[Asked] = []
        for turn in range(self.turns):
            if turn in again:
                entry, first = rng.choice([(it[0], it[2]) for it in asked])
                asked.append((entry, _reference(rng, words, [first]), first))
            else:
                ref = _reference(rng, words, [])
                asked.append((next(new), ref, ref))
        return asked


def system(entries: Sequence[text.Entry]) -> str:
    """The system prompt: a manual of these entries."""
    return INTRODUCTION + "".join(entry.text for entry in entries) + manual.RULES_TEXT


def _entries(rng: Random, words: Words, count: int) -> list[text.Entry]:
    low, high = manual.VALUE_LENGTHS
    return [
        text.Entry(
            key=words.nonce(rng, manual.KEY_LENGTH, set()),
            function=rng.choice(manual.FUNCTIONS),
            value=words.nonce(rng, rng.randint(low, high), set()),
            holes=rng.randint(*text.HOLES),
        )
        for _ in range(count)
    ]


def _reference(rng: Random, words: Words, others: Sequence[str]) -> str:
    """A new reference, which would fill holes otherwise than ``others``."""
    while not differs(ref := words.nonce(rng, REF_LENGTH, set()), others):
        pass
    return ref


def _turn(turn: int, entry: text.Entry, ref: str, first: str) -> TurnPlan:
    asked = text.later_turn(ref, entry.key) if turn else text.first_turn(ref, entry.key)
    values = dict(zip(entry.function.parameters, (entry.value, symbols(entry, first)), strict=True))
    return TurnPlan(
        prompt_messages=({"role": "user", "content": asked},),
        expected_text=reply(entry, first),
        expected_call={"name": entry.function.name, "arguments": values},
        tool_result="",
    )


_A, _W = NONCE_ALPHABET[0], NONCE_ALPHABET[0] * manual.VALUE_LENGTHS[1]
_LONGEST = [text.Entry(_A * manual.KEY_LENGTH, it, _W, text.HOLES[1]) for it in manual.FUNCTIONS]
LONGEST_ENTRY = max(manual.token_count(entry.text) for entry in _LONGEST)
_ROLES = 3 * SPELLING[ASSISTANT]  # the user's, the assistant's, and the end of the reply
LONGEST_TURN = manual.token_count(_ROLES + text.first_turn(_A * REF_LENGTH, _A * manual.KEY_LENGTH))
