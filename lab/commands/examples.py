"""One example for each command, shown at the end of its help. One rule: each can be typed as it is,
where what it names is there; the tests read every one of them as the command line does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import typer
    from typer.models import CommandInfo

EXAMPLES = {
    "run": "kvlab run padded_scatter_stale_slots --sessions 12",
    "ab": "kvlab ab padded_scatter_stale_slots --toggle index_k=bf16,fp8",
    "sweep": "kvlab sweep concurrency_of_padded_scatter --toggle concurrency=1..16",
    "bisect": "kvlab bisect one_toggle --plan",
    "report": "kvlab report last",
    "runs": "kvlab runs",
    "show": "kvlab show last",
    "sql": "kvlab sql 'SHOW TABLES'",
    "export": "kvlab export last",
    "compare": "kvlab compare last~1 last",
    "timeline": "kvlab timeline last",
    "judge": "kvlab judge last",
    "explain": "kvlab explain last",
    "replay": "kvlab replay last 3",
    "serve": "kvlab serve padded_scatter_stale_slots --port 30000",
    "catalog": "kvlab catalog padded_scatter_stale_slots",
    "doctor": "kvlab doctor",
    "scenario list": "kvlab scenario list",
    "scenario new": "kvlab scenario new --name mine --toggle graph=true,false",
    "scenario check": "kvlab scenario check scenarios/mine.yaml",
    "scenario explain": "kvlab scenario explain padded_scatter_stale_slots --sessions 12",
    "scenario schema": "kvlab scenario schema",
    "bench engine": "kvlab bench engine",
    "bench bisect": "kvlab bench bisect",
    "bench ledger": "kvlab bench ledger",
    "bench load": "kvlab bench load",
    "bench store": "kvlab bench store",
    "kernels audit": "kvlab kernels audit",
    "kernels bench": "kvlab kernels bench",
    "probe make": "kvlab probe make --out build/probe",
    "probe check": "kvlab probe check build/probe",
    "probe damage": "kvlab probe damage last",
}


def commands(app: typer.Typer, under: str = "") -> Iterator[tuple[str, CommandInfo]]:
    """Every command of the application with its whole name."""
    for found in app.registered_commands:
        called = found.name or (found.callback.__name__ if found.callback else "")
        yield f"{under}{called.rstrip('_').replace('_', '-')}", found
    for group in app.registered_groups:
        if group.typer_instance is not None:
            yield from commands(group.typer_instance, f"{under}{group.name} ")


def show_examples(app: typer.Typer) -> None:
    """Put each command's example under its help."""
    for name, found in commands(app):
        if name in EXAMPLES:
            found.epilog = f"Example: {EXAMPLES[name]}"
