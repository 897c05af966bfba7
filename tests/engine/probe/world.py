"""Conversations whose every reply is known, and the model that should say them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from random import Random

import torch

from engine.codewords import Signs
from engine.probe import weights
from engine.probe.codes import NONCE_ALPHABET, REF_LENGTH
from engine.probe.replies import differs, reply
from engine.probe.shape import ProbeShape
from engine.probe.text import HOLES, Entry, first_turn, flaws, later_turn
from engine.scribe import manual
from engine.text.tokenizer import ASSISTANT, BOS, EOS, TOOL, USER, encode


@dataclass(frozen=True)
class Talk:
    """Token ids of a whole conversation; ``said`` are the places of the model's own tokens.

    ``entries`` are the half-open ranges of the manual's entries, in its order.
    """

    ids: list[int]
    said: list[int]
    entries: list[tuple[int, int]]


def word(rng: Random, length: int) -> str:
    return "".join(rng.choices(NONCE_ALPHABET, k=length))


def entry(rng: Random) -> Entry:
    value = word(rng, rng.randint(*manual.VALUE_LENGTHS))
    key = word(rng, manual.KEY_LENGTH)
    return Entry(key, rng.choice(manual.FUNCTIONS), value, rng.randint(*HOLES))


def twin(rng: Random, of: Entry) -> Entry:
    """An entry that differs in its key alone."""
    return Entry(word(rng, manual.KEY_LENGTH), of.function, of.value, of.holes)


def new_ref(rng: Random, first: str | None) -> str:
    """One that fills holes otherwise than the reference that asked for the same key first."""
    ref = word(rng, REF_LENGTH)
    return ref if first is None or differs(ref, [first]) else new_ref(rng, first)


def talk(seed: int, entries: int = 2, turns: tuple[int, ...] = (0, 1, 0)) -> Talk:
    """A session that asks for the entries ``turns``; the last entry is the first one's twin.

    A repeated key comes with a reference that would fill the holes otherwise.
    """
    rng = Random(seed)
    made = [entry(rng) for _ in range(entries - 1)]
    made.append(twin(rng, made[0]))
    ids, spans = [BOS, *encode("You are a clerk.\n# Manual\n")], []
    for one in made:
        spans.append((len(ids), len(ids) + len(encode(one.text))))
        ids += encode(one.text)
    said: list[int] = []
    first_refs: dict[int, str] = {}
    for number, turn in enumerate(turns):
        ref = new_ref(rng, first_refs.get(turn))
        text = (later_turn if number else first_turn)(ref, made[turn].key)
        ids += [TOOL if number else USER, *encode(text), ASSISTANT]
        answer = [*encode(reply(made[turn], first_refs.setdefault(turn, ref))), EOS]
        said += range(len(ids), len(ids) + len(answer))
        ids += answer
    assert flaws(ids) == []
    return Talk(ids, said, spans)


@cache
def tensors(shape: ProbeShape) -> dict[str, Signs]:
    return dict(weights.tensors(shape))


def tokens(talk: Talk) -> torch.Tensor:
    return torch.tensor(talk.ids)
