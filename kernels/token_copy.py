"""Copies of single tokens: the bytes of each plane's row, wherever each side keeps it.

Rule: a slot is found by the layout of the side that it belongs to; no geometry is assumed.
"""
# mypy: allow-untyped-defs, allow-incomplete-defs

from torch import Tensor

from kernels.layout import LayerView


def token_copy_ref(
    dst: LayerView,
    src: LayerView,
    dst_slots: Tensor,
    src_slots: Tensor,
    live: Tensor | None = None,
) -> None:
    """Copies each of `src_slots` to `dst_slots` (int64 [N], all >= 0 where `live`, bool [N], says
    so; dead rows are skipped). No slot twice in `dst_slots`; both sides may lie on different
    devices. Raises ValueError if their planes differ.
    """
    if dst.layout.planes != src.layout.planes:
        raise ValueError(f"planes differ: {src.layout.planes} to {dst.layout.planes}")
    if live is not None:
        dst_slots, src_slots = (
            dst_slots[live.to(dst_slots.device)],
            src_slots[live.to(src_slots.device)],
        )
    if len(src_slots) == 0:
        return
    frm, to = src_slots.to(src.pages.device), dst_slots.to(dst.pages.device)
    for plane in dst.layout.planes:
        dst.scatter(plane.name, to, src.gather(plane.name, frm).to(to.device))


def token_copy_triton(
    dst: LayerView,
    src: LayerView,
    dst_slots: Tensor,
    src_slots: Tensor,
    live: Tensor | None = None,
) -> None:
    """`token_copy_ref` as one program a token; nothing waits for the device."""
    raise NotImplementedError
