"""How the format of the index keys changes which entries are selected: sets of the largest logits
by float32 keys beside those by fp8 and bfloat16 keys, by length of the context.

Rule: keys go through the operations' own store, logits through the operations' own sums; only the
format differs. A figure to read, not a check: no length has a right number.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from kernels import exact
from kernels.audit.check import Setting
from kernels.cases import INDEX_K, index_layout

HEADS, TOP = 64, 512
LENGTHS = tuple(2048 << n for n in range(7))  # entries; four tokens each
SMALL = 16_384  # the longest on a CPU
Draw = Callable[[int, torch.Generator], Tensor]  # float32 keys [entries, 128]


def normal(entries: int, g: torch.Generator) -> Tensor:
    """Every lane N(0, 1)."""
    return torch.randn(entries, 128, generator=g)


def rotary(entries: int, g: torch.Generator) -> Tensor:
    """64 lanes N(0, 1), and 32 pairs of a fixed vector, 4 long, and noise, turned by position at
    frequencies 10,000 ** (-pair / 32).
    """
    keys = normal(entries, g)
    angle = torch.arange(entries)[:, None] * 10_000.0 ** (-torch.arange(32) / 32)
    turn = torch.polar(torch.ones_like(angle), angle)
    fixed = torch.polar(torch.full((32,), 4.0), torch.rand(32, generator=g) * 6.2832)
    pairs = (fixed + torch.view_as_complex(keys[:, 64:].reshape(-1, 32, 2))) * turn
    keys[:, 64:] = torch.view_as_real(pairs).flatten(1)
    return keys


def heavy(entries: int, g: torch.Generator) -> Tensor:
    """Student's t with 3 degrees of freedom in every lane, and four lanes 8 times as large."""
    chi = torch.randn(3, entries, 128, generator=g).square().mean(0)
    keys = normal(entries, g) / chi.sqrt()
    keys[:, ::32] *= 8.0
    return keys


def outlier(times: float) -> Draw:
    """N(0, 1), but lane 0 is `times` long, of either sign: each row's scale follows it."""

    def draw(entries: int, g: torch.Generator) -> Tensor:
        keys = normal(entries, g)
        keys[:, 0] = keys[:, 0].sign() * times
        return keys

    return draw


@dataclass(frozen=True)
class Kind:
    """Keys, and whether the queries, N(0, 1), read their lane 0: one that they do not read changes
    no logit, only the scale of its row.
    """

    draw: Draw
    reads_lane_0: bool = True


KEYS = {
    "normal": Kind(normal),
    "rotary": Kind(rotary),
    "heavy-tailed, 4 lanes x 8": Kind(heavy),
    "an unread lane of 10": Kind(outlier(10.0), False),
    "an unread lane of 100,000": Kind(outlier(100_000.0), False),
}


@dataclass(frozen=True)
class Overlap:
    """Of `rows` queries, the mean and the least Jaccard of two sets of the TOP largest logits: by
    keys of `dtype` and by float32 keys. `entries` are compressed ones, four tokens each.
    """

    keys: str
    dtype: str
    entries: int
    rows: int
    mean: float
    least: float


def overlaps(s: Setting, kinds: tuple[str, ...] = tuple(KEYS)) -> Iterator[Overlap]:
    """Every kind of keys at every length, in both formats."""
    rows = s.size(4, 32)
    for kind in kinds:
        for entries in LENGTHS:
            if not s.large and entries > SMALL:
                break
            g = s.numbers(f"jaccard {kind} {entries}")
            (key,) = s.put(KEYS[kind].draw(entries, g))
            q, weight = s.put(
                torch.randn(rows, HEADS, 128, generator=g), torch.rand(rows, HEADS, generator=g)
            )
            q[..., 0] *= KEYS[kind].reads_lane_0
            want = [
                exact.logits_of(*one, key.double())[0].topk(TOP).indices
                for one in zip(q, weight, strict=True)
            ]
            for dtype in INDEX_K:
                found = _selected(s, dtype, key, q, weight)
                each = [_jaccard(*pair) for pair in zip(found, want, strict=True)]
                yield Overlap(kind, dtype, entries, rows, sum(each) / rows, min(each))


def _selected(s: Setting, dtype: str, key: Tensor, q: Tensor, weight: Tensor) -> Tensor:
    """Entries int64 [rows, TOP] by the operations: stored, multiplied, and the largest taken."""
    layout, pages = index_layout(dtype), len(key) // 64
    src = layout.layer(s.pool(layout, pages + 1, 0), 0)
    slots = torch.arange(64, 64 + len(key), device=s.device)
    s.ops.store_index_k(src, key, slots, slots > 0)
    table = torch.arange(1, pages + 1, dtype=torch.int32, device=s.device)
    lens = torch.full((len(q),), len(key), dtype=torch.int32, device=s.device)
    logits = s.ops.indexer_logits(src, q, weight, table.expand(len(q), -1).contiguous(), lens)
    return logits.topk(TOP).indices


def _jaccard(found: Tensor, want: Tensor) -> float:
    both = int(torch.isin(found, want).sum())
    return both / (2 * TOP - both)
