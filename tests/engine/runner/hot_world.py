"""Requests that decode over a c4 pool of random bytes, read through the hot buffer."""

from __future__ import annotations

from dataclasses import fields
from random import Random

import torch
from torch import Tensor

from engine.config import EngineConfig, ModelConfig
from engine.events import EventLog
from engine.pools.device import SizedByLayout, allocate
from engine.pools.token_transfer import ByLayout
from engine.request import Request
from engine.runner.hot_buffer import HotBuffer
from engine.runner.inputs import DecodeInputs
from engine.streams import Streams
from kernels.layout import LayerView
from kernels.ops import Ops, Segment


class HotWorld:
    """A hot buffer over pools that no model writes: this class does, byte by byte."""

    def __init__(
        self,
        topk: int = 64,
        buffer: int = 64,
        pages: int = 40,
        requests: int = 4,
        device: str = "cpu",
    ) -> None:
        self.config = EngineConfig(
            pool_pages=pages,
            max_running=requests,
            hisparse=True,
            hisparse_buffer=buffer,
            device=device,
            model=ModelConfig(index_topk=topk),
        )
        self.pools, self.bytes = allocate(self.config, SizedByLayout()), torch.Generator()
        self.pools.c4.pages.copy_(self.random(*self.pools.c4.pages.shape))
        self.events, self.now = EventLog(lambda: 0), 0.0
        self.streams = Streams(55e9, lambda: self.now)
        ops = Ops.reference() if device == "cpu" else Ops.triton()
        self.hot = HotBuffer(self.config, self.pools, ops, ByLayout(ops), self.events)
        for pool in (self.hot.host, self.hot.device):
            pool.buffer.fill_(0xFF)
        self.topk, self.free = topk, list(range(1, pages + 1))
        Random(3).shuffle(self.free)

    def random(self, *shape: int) -> Tensor:
        """The next random bytes, the same on every device."""
        return torch.randint(0, 256, shape, dtype=torch.uint8, generator=self.bytes)

    def request(self, kv_len: int, req_slot: int = 1, spare: int = 300) -> Request:
        """A prefilled request with pages for ``spare`` more tokens, its latents on the host."""
        count = -(-(kv_len + spare) // 256)
        req = Request(req_slot, [0] * kv_len, spare)
        req.pages, self.free = self.free[:count], self.free[count:]
        req.kv_len, req.req_slot = kv_len, req_slot
        self.hot.stage(req, self.streams)
        self.land()
        return req

    def land(self) -> None:
        """Let time pass until every copy has landed."""
        self.now += 1.0
        self.streams.land(self.now)

    def leave(self, req: Request) -> None:
        self.hot.release(req.req_slot)
        self.free += req.pages

    def step(self, reqs: list[Request], rng: Random, padded: int = 0) -> tuple[Tensor, Segment]:
        """One decode step: chosen slots of every row, and where the hot buffer has them."""
        x = self.inputs(reqs, padded)
        self.hot.begin(x)
        self.write(x)
        self.hot.take_newest(x)
        chosen = self.choices(reqs, rng, padded)
        return chosen, self.hot.read(chosen, x)

    def inputs(self, reqs: list[Request], padded: int = 0) -> DecodeInputs:
        """The rows of the requests' next tokens, and padded rows that carry what they must not."""
        for req in reqs:
            req.kv_len += 1
        real, rows = len(reqs), len(reqs) + padded
        position = torch.tensor([req.kv_len - 1 for req in reqs] + [3] * padded)
        slot = torch.tensor([req.slot(req.kv_len - 1) for req in reqs] + [259] * padded)
        completes = (position + 1) % 4 == 0
        table = torch.zeros(rows, self.config.model.max_context // 256, dtype=torch.int32)
        for row, req in enumerate(reqs):
            table[row, : len(req.pages)] = torch.tensor(req.pages)
        on_cpu = DecodeInputs(
            tokens=torch.zeros_like(position),
            positions=position,
            seq_lens=(position + 1).to(torch.int32),
            out_cache_loc=slot,
            c4_out_loc=torch.where(completes, slot // 4, 0),
            c128_out_loc=torch.zeros_like(slot),
            page_table=table,
            req_slots=torch.tensor([req.req_slot for req in reqs] + [1] * padded),
            live=torch.arange(rows) < real,
        )
        device = self.config.device
        return DecodeInputs(**{f.name: getattr(on_cpu, f.name).to(device) for f in fields(on_cpu)})

    def write(self, x: DecodeInputs) -> None:
        """New bytes where the step completes an entry, as the compressor would store them."""
        slots = x.c4_out_loc[x.live & (x.c4_out_loc > 0)]
        for plane in self.pools.c4.layout.planes:
            rows = self.random(len(slots), plane.row_bytes)
            self.pools.c4.scatter(plane.name, slots, rows.to(slots.device))

    def choices(self, reqs: list[Request], rng: Random, padded: int = 0) -> Tensor:
        """int32 [rows, topk]: what each request reads; a padded row would read, if it were live."""
        chosen = torch.full((len(reqs) + padded, self.topk), 5, dtype=torch.int32)
        for row, req in enumerate(reqs):
            chosen[row] = self.choose(req, rng)
        return chosen.to(self.config.device)

    def choose(self, req: Request, rng: Random) -> Tensor:
        """int32 [topk]: any complete entries, the newest one often among them; then -1."""
        count = req.kv_len // 4
        entries = rng.sample(range(count), min(self.topk, count))
        if count - 1 not in entries and rng.random() < 0.5:
            entries[0] = count - 1
        slots = [req.pages[entry // 64] * 64 + entry % 64 for entry in entries]
        return torch.tensor(slots + [-1] * (self.topk - len(slots)), dtype=torch.int32)


def same_bytes(chosen: Tensor, direct: LayerView, found: Segment) -> bool:
    """Whether every chosen entry has one and the same bytes on either side."""
    live = chosen >= 0
    return torch.equal(live, found.slots >= 0) and all(
        torch.equal(
            direct.gather(plane.name, chosen[live].long()),
            found.view.gather(plane.name, found.slots[live].long()),
        )
        for plane in direct.layout.planes
    )
