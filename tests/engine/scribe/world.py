"""A model over pools of its own, and texts whose right continuation is known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

import torch
from torch import Tensor

from engine.config import PAGE_TOKENS, EngineConfig, ModelConfig
from engine.pools.device import DevicePools, SizedByLayout, allocate
from engine.runner.inputs import DecodeInputs, PrefillInputs
from engine.scribe import manual
from engine.scribe.forward import Scribe
from engine.text.tokenizer import ASSISTANT, BOS, EOS, TOOL, USER, encode
from kernels.ops import Ops, Segment, SparseAttention

Entry = tuple[str, str]  # key, text


@dataclass(frozen=True)
class Session:
    """A prompt, then turns; ``replies`` are the half-open ranges [start, end) of the replies."""

    tokens: list[int]
    replies: list[tuple[int, int]]

    @property
    def prompt(self) -> int:
        """Tokens before the first reply."""
        return self.replies[0][0]


def nonce(rng: Random, length: int) -> str:
    return "".join(rng.choices(manual.ALPHABET, k=length))


def entries(rng: Random, count: int) -> list[Entry]:
    found = []
    for _ in range(count):
        key = nonce(rng, manual.KEY_LENGTH)
        values = (nonce(rng, rng.randint(8, 14)), nonce(rng, rng.randint(8, 14)))
        found.append((key, manual.entry(key, rng.choice(manual.FUNCTIONS).name, values)))
    return found


def session(
    seed: int, shared: int = 12, private: int = 5, turns: int = 4, group: int = 0, between: str = ""
) -> Session:
    """A session whose manual has a part shared by its group and a part of its own."""
    rng = Random(f"session {seed}")
    common, own = entries(Random(f"group {group} {shared}"), shared), entries(rng, private)
    text = "".join(e for _, e in common) + between + "".join(e for _, e in own)
    tokens = [BOS, *encode("You are a clerk.\n# Manual\n" + text + manual.RULES_TEXT)]
    replies = []
    for turn, (key, entry) in enumerate(rng.sample(common + own, turns)):
        if turn == 0:
            tokens += [USER, *encode(manual.user_turn(key)), ASSISTANT]
        else:
            tokens += [TOOL, *encode(manual.tool_result(nonce(rng, 8), key)), ASSISTANT]
        start = len(tokens)
        tokens += [*encode(manual.expected_reply(entry)), EOS]
        replies.append((start, len(tokens)))
    return Session(tokens, replies)


class World:
    """Pools, a model, and a page table for each request that was given pages."""

    def __init__(
        self,
        index_k: str = "fp8",
        topk: str = "v1",
        index_topk: int = 64,
        pages: int = 64,
        ops: Ops | None = None,
        requests: int = 8,
        device: str = "cpu",
    ) -> None:
        self.config = EngineConfig(
            index_k=index_k,  # type: ignore[arg-type]
            topk=topk,  # type: ignore[arg-type]
            pool_pages=pages,
            max_running=requests,
            device=device,
            model=ModelConfig(index_topk=index_topk),
        )
        self.ops = ops or Ops.reference()
        self.pools: DevicePools = allocate(self.config, SizedByLayout())
        self.model = Scribe(
            self.config.model, self.ops, self.ops.store_index_k, self.config.topk, device
        )
        self.free = list(range(1, pages + 1))
        Random(7).shuffle(self.free)

    def pages(self, tokens: int) -> Tensor:
        """A page table int32 [W] with pages for so many tokens."""
        width, device = self.config.model.max_context // PAGE_TOKENS, self.config.device
        table = torch.zeros(width, dtype=torch.int32, device=device)
        count = -(-tokens // PAGE_TOKENS)
        table[:count] = torch.tensor([self.free.pop() for _ in range(count)])
        return table

    def prefill(
        self, tokens: list[int], table: Tensor, request: int = 1, chunk: int = 2048, start: int = 0
    ) -> int:
        """Prefill [start, end) in chunks; the next token."""
        token = None
        for at in range(start, len(tokens), chunk):
            end = min(len(tokens), at + chunk)
            x = PrefillInputs(
                tokens=torch.tensor(tokens[at:end], device=table.device),
                start=at,
                slots=slots_of(torch.arange(at, end, device=table.device), table),
                page_table=table,
                req_slot=request,
                last=end == len(tokens),
            )
            token = self.model.prefill(x, self.pools)
        assert token is not None
        return int(token)

    def rows(
        self, tokens: Tensor, position: Tensor, tables: Tensor, requests: Tensor, live: bool = True
    ) -> DecodeInputs:
        """Decode inputs of one token a row, as an eager step would make them."""
        length = position + 1
        loc = tables.gather(1, position[:, None] // PAGE_TOKENS)[:, 0].long() * PAGE_TOKENS
        loc = loc + position % PAGE_TOKENS
        return DecodeInputs(
            tokens=tokens,
            positions=position,
            seq_lens=length.to(torch.int32),
            out_cache_loc=loc,
            c4_out_loc=torch.where(length % 4 == 0, loc // 4, 0),
            c128_out_loc=torch.where(length % 128 == 0, loc // 128, 0),
            page_table=tables,
            req_slots=requests,
            live=torch.full_like(tokens, live, dtype=torch.bool),
        )

    def forced(self, s: Session, table: Tensor, batch: int = 256) -> Tensor:
        """What the model says at every reply position of a prefilled session: bool, right or not.

        Each position is a row that reads the pools and stores nothing.
        """
        tokens = torch.tensor(s.tokens, device=table.device)
        where = torch.cat([torch.arange(a - 1, b - 1) for a, b in s.replies])
        right = []
        for at in where.to(table.device).split(batch):
            x = self.peek(tokens[at], at, table)
            right.append(self.model.decode(x, self.pools) == tokens[at + 1])
        return torch.cat(right)

    def peek(self, tokens: Tensor, position: Tensor, table: Tensor) -> DecodeInputs:
        """Rows of one prefilled request that only read."""
        nobody = torch.zeros_like(position)
        return self.rows(tokens, position, table.expand(len(position), -1), nobody, live=False)


@dataclass
class Recorder:
    """Sparse attention that remembers the last call of the c4 heads that copy: scores, slots."""

    inner: SparseAttention
    scores: Tensor | None = None
    slots: Tensor | None = None

    def __call__(
        self,
        q: Tensor,
        segments: tuple[Segment, ...],
        bias: Tensor,
        sink: Tensor,
        *,
        rope_only: bool = False,
        dims: tuple[int, int] | None = None,
    ) -> tuple[Tensor, Tensor]:
        if q.shape[1] == 8:
            slots = segments[0].slots
            alone = (
                Segment(segments[0].view, slots.reshape(-1, 1)),
            )  # the lse of one is its score
            each = q[:, :4].repeat_interleave(slots.shape[1], 0)
            _, lse = self.inner(each, alone, bias[:4], sink[:4], dims=dims)
            self.scores, self.slots = lse.view(*slots.shape, 4).transpose(1, 2), slots
        return self.inner(q, segments, bias, sink, rope_only=rope_only, dims=dims)


def margins(world: World, s: Session, table: Tensor, batch: int = 64) -> Tensor:
    """Nats, float32 [reply positions]: best slot with the right token, less the best other slot."""
    recorder = Recorder(world.ops.sparse_attention)
    world.model.ops = replace(world.ops, sparse_attention=recorder)
    tokens = torch.tensor(s.tokens)
    of_page = torch.zeros(int(table.max()) + 1, dtype=torch.int64)
    of_page[table[table > 0].long()] = torch.arange(int((table > 0).sum()))
    found = []
    for at in torch.cat([torch.arange(a - 1, b - 1) for a, b in s.replies]).split(batch):
        world.model.decode(world.peek(tokens[at], at, table), world.pools)
        assert recorder.scores is not None and recorder.slots is not None
        slots = recorder.slots.long().clamp(min=0)
        entry = of_page[slots // 64] * 64 + slots % 64
        token = tokens[(entry[:, None] * 4 + torch.arange(4)[:, None]).clamp(max=len(tokens) - 1)]
        right = token == tokens[at + 1][:, None, None]
        best = recorder.scores.masked_fill(~right, -torch.inf).flatten(1).amax(1)
        found.append(best - recorder.scores.masked_fill(right, -torch.inf).flatten(1).amax(1))
    world.model.ops = world.ops
    return torch.cat(found)


def slots_of(position: Tensor, table: Tensor) -> Tensor:
    """int64: token slots of positions under one page table."""
    return table[position // PAGE_TOKENS].long() * PAGE_TOKENS + position % PAGE_TOKENS
