"""The pools' formats and the operations' sums, said again: in float64, by torch's own casts, or in
Python's integers.

Rule: shares no arithmetic with the kernels or their references; slow and plain. Sizes and offsets
of planes are read off the layout, for there they are data.
"""

import torch
from torch import Tensor

from kernels.layout import LayerView
from kernels.sparse_attention import Segment

LARGEST = 3.4028234663852886e38  # of float32
WORD_BITS = 64
MASK = (1 << WORD_BITS) - 1


def e4m3(values: Tensor) -> Tensor:
    """float64 -> the code (uint8) of the nearest e4m3 number, ties to the even code, saturating;
    NaN stays NaN. Looked up in the sorted list of all numbers there are.
    """
    codes = torch.arange(127, dtype=torch.uint8, device=values.device)
    numbers = codes.view(torch.float8_e4m3fn).double()
    size = values.abs().clamp(max=448.0)
    above = torch.searchsorted(numbers, size.contiguous()).clamp(max=126)
    below = (above - 1).clamp(min=0)
    up, down = numbers[above] - size, size - numbers[below]
    even = torch.where(above % 2 == 0, above, below)
    code = torch.where(up < down, above, torch.where(down < up, below, even))
    code = code + 128 * torch.signbit(values)
    return torch.where(values.isnan(), 0x7F, code).to(torch.uint8)


def index_rows(key: Tensor, fp8: bool) -> tuple[Tensor, Tensor | None]:
    """(codes uint8 [N, 128], scale float32 [N, 1]), or (bfloat16 [N, 128], None), of float32 keys:
    scale = max(1e-4, absmax) / 448, codes of key / scale, each quotient rounded to float32.
    """
    if not fp8:
        return key.to(torch.bfloat16), None
    size = torch.where(key.isnan(), 0.0, key.abs()).double().amax(1, keepdim=True)
    least = torch.tensor(1e-4, dtype=torch.float32).double().to(key.device)
    scale = (torch.maximum(size, least) / 448).float()
    return e4m3((key.double() / scale.double()).float().double()), scale


def power_of_two(scale: Tensor) -> Tensor:
    """float64 2**(scale - 127), by its bits: torch's power on a GPU is off by a last bit."""
    return ((scale.long() + (1023 - 127)) << 52).view(torch.float64)


def latent_rows(latent: Tensor) -> tuple[Tensor, Tensor]:
    """(bytes uint8 [N, 576], scales uint8 [N, 8]) of float32 latents: the smallest power of two
    under which a group of 64 fits 448 and 1e-4 counts, codes, and the rope dims as bfloat16.
    """
    groups = latent[:, :448].double().view(-1, 7, 64)
    size = torch.where(groups.isnan(), 0.0, groups.abs()).amax(2)
    least = torch.tensor(1e-4, dtype=torch.float32).double().item()
    fits = 448 * power_of_two(torch.arange(255, device=latent.device))
    scale = torch.searchsorted(fits, size.clamp(least, LARGEST))
    codes = e4m3(groups / power_of_two(scale)[..., None]).view(-1, 448)
    rope = latent[:, 448:].to(torch.bfloat16).view(torch.uint8)
    pad = torch.zeros_like(scale[:, :1])
    return torch.cat([codes, rope], 1), torch.cat([scale, pad], 1).to(torch.uint8)


def write(dst: LayerView, name: str, slots: Tensor, rows: Tensor) -> None:
    """Puts uint8 rows into a plane, each to its slot."""
    page, token = slots // dst.layout.page_tokens, slots % dst.layout.page_tokens
    dst.rows(name)[page, token] = rows


def store_index_k(dst: LayerView, key: Tensor, slots: Tensor, live: Tensor) -> Tensor:
    """The store of index keys; int64 [N] of the slots written, -1 = none."""
    keep = live & (slots > 0)
    value, scale = index_rows(key[keep], len(dst.layout.planes) > 1)
    write(dst, "value", slots[keep], value.view(torch.uint8))
    if scale is not None:
        write(dst, "scale", slots[keep], scale.view(torch.uint8))
    return torch.where(keep, slots, -1)


def store_latent(dst: LayerView, latent: Tensor, slots: Tensor, live: Tensor) -> None:
    """The store of latents."""
    keep = live & (slots > 0)
    value, scale = latent_rows(latent[keep])
    write(dst, "value", slots[keep], value)
    write(dst, "scale", slots[keep], scale)


def latents(view: LayerView, slots: Tensor) -> Tensor:
    """float64 [..., 512] of latent slots (all >= 0)."""
    page, token = slots.long() // view.layout.page_tokens, slots.long() % view.layout.page_tokens
    value, scale = view.plane("value")[page, token], view.plane("scale")[page, token]
    code = value[..., :448].contiguous().view(torch.float8_e4m3fn).double()
    unit = power_of_two(scale[..., :7]).repeat_interleave(64, -1)
    unit[scale[..., :7].repeat_interleave(64, -1) == 255] = torch.nan
    rope = value[..., 448:].contiguous().view(torch.bfloat16).double()
    return torch.cat([code * unit, rope], -1)


def index_keys(view: LayerView) -> Tensor:
    """float64 [page, 64, 128] of an index-K pool."""
    value = view.plane("value").double()
    return value * view.plane("scale").double() if len(view.layout.planes) > 1 else value


def logits_of(q: Tensor, weight: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
    """One row's logits, float64 [entries], of q [heads, 128], weight [heads], keys float64
    [entries, 128]; and the size of their terms: the sum of all absolute products.
    """
    q, weight = q.double(), weight.double()
    dots = q @ keys.T
    size = weight.abs() @ (q.abs() @ keys.abs().T)
    return weight @ torch.where(dots < 0, 0.0, dots), size


def indexer_logits(
    src: LayerView, q: Tensor, weight: Tensor, page_table: Tensor, lens: Tensor
) -> tuple[Tensor, Tensor]:
    """(logits, size of their terms), float64 [B, P * page_tokens]: -inf and 0 beyond `lens`."""
    tokens, width = src.layout.page_tokens, page_table.shape[1] * src.layout.page_tokens
    out = torch.full((len(q), width), -torch.inf, dtype=torch.float64, device=q.device)
    size = torch.zeros_like(out)
    for row, length in enumerate(lens.tolist()):
        pages = page_table[row, : -(-length // tokens)].long()
        part = LayerView(src.layout, src.pages[pages])
        keys = index_keys(part).flatten(0, 1)[:length]
        out[row, :length], size[row, :length] = logits_of(q[row], weight[row], keys)
    return out, size


def topk_slots(logits: Tensor, length: int, pages: Tensor, k: int) -> list[int]:
    """One row's slots of the k largest in order of position, NaN above all, equals by position;
    then -1. All positions where `length` <= k.
    """
    tokens = len(logits) // len(pages)
    number = torch.where(logits.isnan(), torch.inf, logits.double())
    rank = torch.stack([~logits.isnan(), -number]).double()  # NaN first, then the largest
    order = list(range(length))
    if length > k:
        by_value = rank[1].sort(stable=True).indices
        by_value = by_value[rank[0][by_value].sort(stable=True).indices]
        order = by_value[:k].sort().values.tolist()
    ids = pages.tolist()
    slots = [ids[p // tokens] * tokens + p % tokens for p in order]
    return slots + [-1] * (k - len(slots))


def attend(q: Tensor, rows: Tensor, bias: Tensor, sink: Tensor) -> tuple[Tensor, Tensor]:
    """Queries [..., D] over seen rows [N, 512] with a bias [..., N]: (out [..., 512], lse [...]),
    one softmax; `sink` [...] joins the denominator alone.
    """
    keys = rows if q.shape[-1] == 512 else rows[:, 448:]
    scores = q.double() @ keys.T + bias.double()
    top = scores.amax(-1, keepdim=True)
    weight = (scores - top).exp()
    total = weight.sum(-1, keepdim=True)
    out = weight @ rows / (total + (sink.double()[..., None] - top).exp())
    return out, (total.log() + top).squeeze(-1)


def sparse_attention(
    q: Tensor, segments: tuple[Segment, ...], bias: Tensor, sink: Tensor
) -> tuple[Tensor, Tensor]:
    """(out float64 [B, H, 512], lse float64 [B, H]) of every row and head by itself; heads that
    read the same segments are taken together.
    """
    out = torch.zeros(*q.shape[:2], 512, dtype=torch.float64, device=q.device)
    lse = torch.full(q.shape[:2], -torch.inf, dtype=torch.float64, device=q.device)
    readers: dict[tuple[int, ...], list[int]] = {}
    for head, row in enumerate((bias > -torch.inf).tolist()):
        readers.setdefault(tuple(i for i, reads in enumerate(row) if reads), []).append(head)
    for read, heads in readers.items():
        for b in range(len(q)):
            live = {i: segments[i].slots[b][segments[i].slots[b] >= 0] for i in read}
            if sum(len(slots) for slots in live.values()) == 0:
                continue
            rows = torch.cat([latents(segments[i].view, slots) for i, slots in live.items()])
            extra = torch.cat(
                [bias[heads, i, None].expand(-1, len(slots)) for i, slots in live.items()], 1
            )
            out[b, heads], lse[b, heads] = attend(q[b, heads], rows, extra, sink[heads])
    return out, lse


def window_attention(
    q: Tensor, src: LayerView, ctx_slots: Tensor, window: int, sink: Tensor
) -> tuple[Tensor, Tensor]:
    """(out float64 [T, H, 512], lse float64 [T, H]): each query over the window ending at it."""
    context, tokens = len(ctx_slots), len(q)
    slots = torch.full((tokens, window), -1, dtype=torch.int64, device=q.device)
    for t in range(tokens):
        here = context - tokens + t + 1
        seen = ctx_slots[max(0, here - window) : here]
        slots[t, : len(seen)] = seen
    bias = torch.zeros(len(sink), 1, device=q.device)
    return sparse_attention(q, (Segment(src, slots),), bias, sink)


def page_digest(page: Tensor) -> int:
    """The digest of one page (uint8 [bytes]) as a signed 64-bit number, in Python's integers."""
    data = bytes(page.tolist())
    total = 0
    for place, at in enumerate(range(0, len(data), 8), 1):
        word = int.from_bytes(data[at : at + 8], "little")
        mixed = _signed(word + place * -7046029254386353131)
        mixed = _signed((mixed ^ (mixed >> 30)) * -4658895280553007687)
        total += mixed ^ (mixed >> 27)
    return _signed(total)


def _signed(number: int) -> int:
    number &= MASK
    return number - (1 << WORD_BITS) if number >> (WORD_BITS - 1) else number


def copy_pages(
    dst: Tensor, src: Tensor, dst_pages: list[int], src_pages: list[int], width: int
) -> None:
    """Bytes [0, width) of each page row of every layer, one at a time."""
    for to, frm in zip(dst_pages, src_pages, strict=True):
        for layer in range(dst.shape[1]):
            dst[to, layer, :width] = src[frm, layer, :width]


def copy_tokens(dst: LayerView, src: LayerView, dst_slots: list[int], src_slots: list[int]) -> None:
    """Each plane's bytes of a token: planes follow one another, tokens within them."""
    for to, frm in zip(dst_slots, src_slots, strict=True):
        moved, starts = [], [0, 0]
        for plane in dst.layout.planes:
            for i, (view, slot) in enumerate(((dst, to), (src, frm))):
                page, token = divmod(slot, view.layout.page_tokens)
                at = starts[i] + token * plane.row_bytes
                moved.append(view.pages[page, at : at + plane.row_bytes])
                starts[i] += plane.row_bytes * view.layout.page_tokens
        for row, value in zip(moved[::2], moved[1::2], strict=True):
            row.copy_(value)
