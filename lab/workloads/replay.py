"""The requests of a production trace: when they came, how long they were, who shared what.

A trace holds no text: a block of 512 tokens becomes a text of about as many, the same wherever its
number occurs, so that what was a prefix is one. A request is a session of one turn. In plain words
it asks for one call, with a secret and as many words as the reply was long; by a manual, for the
bundled model, blocks become entries, as many as its context holds. One rule: a block's text depends
on the seed and its number alone.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from lab.records import SessionPlan, TurnPlan
from lab.workloads import manuals
from lab.workloads.arrivals import arrivals
from lab.workloads.base import WORKLOADS, WorkloadModel
from lab.workloads.manuals import Entry, Words
from lab.workloads.mooncake import BLOCK_TOKENS, Request, no_file, read_trace
from lab.workloads.natural import (
    CODE_LENGTH,
    HAND_OVER,
    NATURAL_ONLY,
    Form,
    code,
    handing_over,
    prose,
)
from lab.workloads.sharing import BESIDE

if TYPE_CHECKING:
    from lab.workloads.schemas import Tool

ENTRY_TOKENS = 300  # about
INTRODUCTION = (
    "You keep an archive, and hand_over is your only tool. Below are its pages, which you need not "
    "read closely. Each request gives the arguments of one call; make that call and say nothing.\n"
)
FIXED_TOKENS = 256  # introduction, tool and request, at most about
ROOM = 64  # tokens of a call beside its words


@WORKLOADS.register("replay")
class Replay(WorkloadModel):
    """Parameters of the load: ``sessions`` requests of the trace from number ``first`` on.

    ``speed`` divides the times between arrivals, ``tokens_scale`` multiplies all lengths;
    ``most_tokens`` cuts what is left of longer inputs, ``most_entries`` manuals. An arrival rate
    takes the place of the trace's own times.
    """

    own_sizes: ClassVar[tuple[str, ...]] = ("turns",)

    turns: int = Field(default=1, ge=1, le=1)
    form: Form = "natural"
    data: str = "../shared/data/mooncake/mooncake_conversation_trace.jsonl"
    first: int = Field(default=0, ge=0)
    speed: float = Field(default=1.0, gt=0, le=1_000_000)
    tokens_scale: float = Field(default=1.0, gt=0, le=1000)
    most_tokens: int = Field(default=1_000_000, ge=1)
    most_entries: int = Field(default=20, ge=1, le=64)

    def plan(self, seed: int) -> list[SessionPlan]:
        """A session a request, in the order of the trace."""
        requests = read_trace(self.data, self.first, self.sessions)
        starts = [(it.at_s - requests[0].at_s) / self.speed for it in requests]
        if self.arrival_rate is not None:
            starts = arrivals(seed, self.sessions, self.arrival_rate)
        make = Manuals(self, seed) if self.form == "manual" else Pages(self, seed)
        plans = [make.session(index, request) for index, request in enumerate(requests)]
        return [replace(it, start_s=at) for it, at in zip(plans, starts, strict=True)]

    def longest_context(self) -> int:
        """Tokens: of the longest manual there can be; in plain words, as much as is let through."""
        if self.form == "manual":
            reply = manuals.TURN_OVERHEAD + self.max_tokens
            return manuals.longest_prompt(self.most_entries) + reply
        return FIXED_TOKENS + self.most_tokens + 2 * self.max_tokens

    def lacks(self) -> str:
        """A trace, where there is none."""
        return no_file(self.data)

    def beyond_bundled(self) -> str:
        """Plain words are."""
        return "" if self.form == "manual" else NATURAL_ONLY

    def least_topk(self) -> int:
        """As for any manual: three groups for two places that look alike."""
        return -(-3 * self.most_entries // 2) + BESIDE


class Pages:
    """Requests in plain words."""

    def __init__(self, load: Replay, seed: int) -> None:
        self._load, self._seed, self._words = load, seed, Words()
        self._pages: dict[int, str] = {}

    def session(self, index: int, request: Request) -> SessionPlan:
        """The session of one request: pages, then a call with a secret and words of its own."""
        load, rng = self._load, Random(f"{self._seed}/request/{index}")
        most = load.max_tokens // 2 - ROOM  # a word may be two tokens
        reply = max(1, min(round(request.output_tokens * load.tokens_scale), most))
        secret, words = code(rng, self._words), prose(rng, reply)
        room = min(round(request.input_tokens * load.tokens_scale), load.most_tokens)
        pages = self._pages_of(request, max(1, room - reply))
        system = INTRODUCTION + " ".join(pages)
        secrets = (*(page[:CODE_LENGTH] for page in pages), secret)
        return one_turn(index, system, (HAND_OVER,), secrets, handing_over(secret, words))

    def _pages_of(self, request: Request, room: int) -> list[str]:
        """The request's pages up to so many words, the last of them cut."""
        found = []
        for block in request.blocks:
            if room <= 0:
                break
            page = self._page(block)
            words = 1 + page.count(" ")
            found.append(page if words <= room else " ".join(page.split(" ")[:room]))
            room -= words
        return found

    def _page(self, block: int) -> str:
        """A block's text; its first word may only be said by those who were given the block."""
        if block not in self._pages:
            rng = Random(f"{self._seed}/block/{block}")
            own = code(rng, self._words)
            words = max(1, round(BLOCK_TOKENS * self._load.tokens_scale))
            self._pages[block] = f"{own} {prose(rng, words - 1)}".rstrip()
        return self._pages[block]


class Manuals:
    """Requests about manuals: the entries of equal blocks are equal, the last one is its own."""

    def __init__(self, load: Replay, seed: int) -> None:
        self._load, self._seed, self._words = load, seed, Words()
        self._entries: dict[tuple[int, int], Entry] = {}
        self._a_block = BLOCK_TOKENS * load.tokens_scale / ENTRY_TOKENS  # entries

    def session(self, index: int, request: Request) -> SessionPlan:
        """The session of one request; it asks for its own entry, or for one that it shares."""
        rng = Random(f"{self._seed}/request/{index}")
        shared: list[Entry] = []
        count = int(len(request.blocks) * self._a_block)
        for place in range(min(count, self._load.most_entries - 1)):
            middle = int((place + 0.5) / self._a_block)  # the block that most of the entry is for
            shared.append(self._entry(place, request.blocks[middle], shared))
        own = self._words.entries(rng, 1, shared)
        refs = self._words.references(rng, 1)
        asked = rng.choice(shared) if shared and rng.random() < 0.5 else own[0]
        [turn] = manuals.turns([asked], refs)
        secrets = manuals.said([*shared, *own], refs)
        return one_turn(index, manuals.system(shared, own), manuals.TOOLS, secrets, turn)

    def _entry(self, place: int, block: int, before: list[Entry]) -> Entry:
        if (place, block) not in self._entries:
            rng = Random(f"{self._seed}/block/{block}/{place}")
            [self._entries[place, block]] = self._words.entries(rng, 1, before)
        return self._entries[place, block]


def one_turn(
    index: int, system: str, tools: tuple[Tool, ...], secrets: tuple[str, ...], turn: TurnPlan
) -> SessionPlan:
    """A session that asks once, at 0 s; its secrets are also those of whoever lists them."""
    return SessionPlan(
        index=index,
        group=index,
        system=system,
        tools=tools,
        turns=(turn,),
        secrets=secrets,
        start_s=0.0,
        think_s=(0.0,),
    )
