"""`kvlab serve`: the bundled engine as a server, sick or well, for clients of any kind."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lab.commands import options as o
from lab.commands.output import note

Of = Annotated[
    Path | None,
    typer.Argument(
        metavar="[SCENARIO]", help="Whose engine and build; by default the toggles' defaults."
    ),
]
ArmOf = Annotated[
    str | None,
    typer.Option("--arm", metavar="NAME", help="The scenario's arm; by default its `engine`."),
]
Host = Annotated[
    str, typer.Option("--host", metavar="ADDRESS", help="Where to listen.", show_default=True)
]
Port = Annotated[
    int,
    typer.Option(
        "--port", metavar="N", min=0, max=65535, help="0 takes a free one.", show_default=True
    ),
]
Defects = Annotated[
    list[str] | None,
    typer.Option(
        "--defect", metavar="NAME", help="Put a known fault into the build; may be repeated."
    ),
]


def serve(
    scenario: Of = None,
    arm: ArmOf = None,
    host: Host = "127.0.0.1",
    port: Port = 30000,
    sets: o.Sets = None,
    defects: Defects = None,
    seed: o.Seed = None,
) -> None:
    """Serve the bundled engine over HTTP until it is stopped: a server whose faults are known."""
    from lab.serving.chosen import Asked, engine_config
    from lab.serving.listening import listen
    from lab.serving.server import serve as serve_engine

    config = engine_config(Asked(scenario, arm, sets or (), defects or (), seed))
    code = serve_engine(config, listen(host, port), lambda said: note(f"kvlab: {said}"))
    raise typer.Exit(code)
