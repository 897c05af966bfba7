"""The store of latents, byte by byte: codes, power-of-two scales, rope dims, and the padding.

Rule: the whole buffer is compared, other layers and padding included.
"""

import torch

from kernels import exact
from kernels.audit.check import Found, Setting, check
from kernels.audit.measure import bytes_differing, codes_differing
from kernels.audit.store_index_k import edge_rows, store_inputs
from kernels.cases import latent_layout
from kernels.layout import Order

KERNEL = "store_latent"
WHY = "a format has one right byte: the least scale that fits, then the nearest code"


@check(KERNEL, "random rows")
def random_rows(s: Setting) -> Found:
    """Every byte of a pool whose pages lie apart and end in padding."""
    g, bad = s.numbers("store_latent"), 0.0
    layout = latent_layout(64, 3, Order.PAGE_FIRST)
    for rows in (0, 1, 63, 64, 65, s.size(65, 8_192)):
        pages = 2 + rows // 48
        latent, slots, live = s.put(*store_inputs(rows, 512, pages, g))
        got = s.pool(layout, pages, 0x5A)
        want = got.clone()
        s.ops.store_latent(layout.layer(got, 1), latent, slots, live)
        exact.store_latent(layout.layer(want, 1), latent, slots, live)
        bad += bytes_differing(got, want)
    sizes = f"0, 1, 63, 64, 65 and {s.size(65, 8_192)} rows"
    inputs = f"{sizes}, sizes over nine decades, a quarter dead, slots 0 and -1 among them"
    return Found(inputs, {"bytes differing": bad}, {"bytes differing": 0.0}, WHY)


@check(KERNEL, "edges of the format")
def edges(s: Setting) -> Found:
    """Rows at which a code or a scale saturates, rounds, vanishes or is no number."""
    (latent,) = s.put(torch.cat([edge_rows(448), edge_rows(64)], 1))
    slots, live = s.put(1 + torch.arange(len(latent)), torch.ones(len(latent), dtype=torch.bool))
    layout = latent_layout(64)
    got, want = (layout.layer(s.pool(layout, 1, 0x5A), 0) for _ in range(2))
    s.ops.store_latent(got, latent, slots, live)
    exact.store_latent(want, latent, slots, live)
    rows = [view.plane("value") for view in (got, want)]
    codes = [part[..., :448].contiguous().view(torch.float8_e4m3fn) for part in rows]
    ropes = [part[..., 448:].contiguous().view(torch.bfloat16) for part in rows]
    measured = {
        "codes differing": codes_differing(*codes),
        "rope dims differing": codes_differing(*ropes),
        "scales differing": bytes_differing(got.plane("scale"), want.plane("scale")),
    }
    inputs = (
        f"{len(latent)} rows: zeros of both signs, NaN, infinities, subnormals, absmax beside "
        "1e-4, the largest float32, numbers halfway between codes"
    )
    return Found(inputs, measured, dict.fromkeys(measured, 0.0), WHY + "; NaN is one number")


@check(KERNEL, "rows that write nothing")
def dead_rows(s: Setting) -> Found:
    """Rows that are not live or have no slot leave the pool as it was."""
    layout, g = latent_layout(64), s.numbers("store_latent dead")
    latent, slots, _ = store_inputs(65, 512, 2, g)
    live = torch.arange(65) % 2 == 0
    slots = torch.where(live, torch.where(slots % 3 > 0, -1, 0), slots)
    got = s.pool(layout, 2, 0x5A)
    s.ops.store_latent(layout.layer(got, 0), *s.put(latent, slots, live))
    measured = {"bytes written": float((got != 0x5A).sum())}
    inputs = "65 rows, each dead or with a slot of 0 or -1"
    return Found(inputs, measured, {"bytes written": 0.0}, "a dead row has no place")
