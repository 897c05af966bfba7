"""`kvlab probe`: the checkpoint whose every reply is known, for engines of any kind."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lab.commands import options as o
from lab.commands.output import show, show_json, show_line

app = typer.Typer(no_args_is_help=True, help="Make and check the known-answer checkpoint.")
To = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the checkpoint.")]
Of = Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `probe make` made.")]
Dtype = Annotated[
    str, typer.Option("--dtype", metavar="NAME", help="bfloat16, float16 or float32.")
]
Context = Annotated[int, typer.Option("--context", metavar="N", help="Tokens, at most.")]
Layers = Annotated[
    int, typer.Option("--layers", metavar="N", help="4, or more for a larger KV cache.")
]
KvHeads = Annotated[int, typer.Option("--kv-heads", metavar="N", help="Heads of the KV cache.")]
Heads = Annotated[int, typer.Option("--heads", metavar="N", help="Heads of the queries.")]
HeadDim = Annotated[int, typer.Option("--head-dim", metavar="N", help="Numbers of one head.")]


@app.callback()
def probe() -> None:
    """Make and check the known-answer checkpoint."""


@app.command("make")
def make(
    out: To,
    dtype: Dtype = "bfloat16",
    context: Context = 32768,
    layers: Layers = 4,
    kv_heads: KvHeads = 2,
    heads: Heads = 8,
    head_dim: HeadDim = 128,
    as_json: o.Json = False,
) -> None:
    """Write a Qwen2 checkpoint by closed form: the same bytes for the same options."""
    from lab.probing import make as make_probe
    from lab.probing.options import shape_of

    shape = shape_of(dtype, context, layers, kv_heads, heads, head_dim)
    made = make_probe(out, shape)
    if as_json:
        show_json(made)
    else:
        kv = f"{made['kv_elements']:,} numbers a token in the KV cache"
        show_line(
            f"{out}: {made['bytes'] / 1e6:.1f} MB, {shape.dtype}, {shape.layers} layers, {kv}"
        )


@app.command("damage")
def damage(run: o.Run = "last", db: o.Db = o.DB, as_json: o.Json = False) -> None:
    """Of replies that needed a KV block which a fault damaged: how many are wrong, and where."""
    from lab.placing.report import damage_document, damage_tables
    from lab.store import open_results

    with open_results(db, create=False) as results:
        document = damage_document(results, results.resolve(run))
    if as_json:
        show_json(document)
    else:
        for table in damage_tables(document):
            show(table)


@app.command("check")
def check(folder: Of, as_json: o.Json = False) -> None:
    """Hold a checkpoint against its closed form, and its replies against a forward of our own."""
    from lab.probing import check as check_probe
    from lab.probing.report import table

    report = check_probe(folder)
    if as_json:
        show_json(report.document())
    else:
        show(table(report))
    raise typer.Exit(int(not report.good))
