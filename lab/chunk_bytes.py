"""What one prefill chunk weighs on the wire. One rule: counted from the layouts, nothing is sent.

Beside the layers of the model that runs here stand those of DeepSeek-V4-Flash, whose bytes the
engine charges time for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from engine.config import ModelConfig
from engine.disagg.bytes import chunk_bytes, item_bytes, layers_of, once_bytes
from engine.pools.layouts import FLASH_LAYERS
from lab.report.grid import plain_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rich.console import RenderableType
    from rich.table import Table

TOKENS = 8192  # the chunk of the investigation's deployments
DTYPES = ("fp8", "bf16")
HEADS = (
    *("pool", "bytes of\nan item", "layers,\nFlash"),
    *("bytes,\nFlash", "layers,\nhere", "bytes,\nhere"),
)
# a row of the first table: its name, the pool, and the dtype whose sum it is of
CHUNK = (
    ("c4", "c4", "fp8"),
    ("index_k, fp8", "index_k", "fp8"),
    ("index_k, bf16", "index_k", "bf16"),
    ("c128", "c128", "fp8"),
    ("total, fp8", "total", "fp8"),
    ("total, bf16", "total", "bf16"),
)
NOTE = """\
An item is a page of 256 tokens, of one layer; of c128_state a request's ring,
of aux the row with the first token. swa, c4_state and index_state go with the
pages of the last 128 tokens: two, not one, where those begin a page earlier.
"""


def chunk_report() -> dict[str, Any]:
    """The bytes of a chunk by model, index-K dtype and pool, and of what goes once: JSON-ready.

    ``{tokens, item_bytes: {fp8, bf16}, flash, here}``; a model is ``{layers, fp8, bf16, once}``,
    each but ``layers`` with its ``total``.
    """
    return {
        "tokens": TOKENS,
        "item_bytes": {dtype: item_bytes(dtype) for dtype in DTYPES},
        "flash": _model(FLASH_LAYERS),
        "here": _model(layers_of(ModelConfig().compress_ratios)),
    }


def _model(layers: Mapping[str, int]) -> dict[str, Any]:
    sums = {dtype: chunk_bytes(dtype, TOKENS, layers) for dtype in DTYPES}
    sums["once"] = once_bytes(TOKENS, layers)
    totals = {name: {**found, "total": sum(found.values())} for name, found in sums.items()}
    return {"layers": dict(layers), **totals}


def chunk_table(report: Mapping[str, Any]) -> RenderableType:
    """The report for a person: what a chunk carries, then what goes once, with the last one."""
    fp8, bf16 = (report["flash"][dtype]["total"] for dtype in DTYPES)
    once = [(pool, pool, "once") for pool in report["flash"]["once"]]
    said = f"Flash: {fp8 / 1e6:.1f} MB with fp8, {bf16 / 1e6:.1f} MB with bf16, x{bf16 / fp8:.2f}."
    return Group(
        Text(f"One prefill chunk of {report['tokens']:,} tokens on the wire", style="bold"),
        _table(report, CHUNK),
        Text(f"{said}\n"),
        Text("Once a request, with its last chunk", style="bold"),
        _table(report, once),
        Text(NOTE, style="dim"),
    )


def _table(report: Mapping[str, Any], rows: Iterable[tuple[str, str, str]]) -> Table:
    table = plain_table(*HEADS)
    for name, pool, of in rows:
        item = report["item_bytes"].get(of, report["item_bytes"]["fp8"]).get(pool)
        cells = [name, _said(item)]
        for model in (report["flash"], report["here"]):
            cells += [_said(model["layers"].get(pool)), _said(model[of][pool])]
        table.add_row(*cells)
    return table


def _said(number: int | None) -> str:
    return "" if number is None else f"{number:,}"
