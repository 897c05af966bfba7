"""`kvlab replay`: one session's failure again, shortened; or a bundle of one, anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lab.commands import options as o
from lab.commands.output import show_replay
from lab.errors import UserError

What = Annotated[
    str, typer.Argument(metavar="RUN|BUNDLE", help="A run's id, part of it, or `last`; a bundle.")
]
Session = Annotated[
    int | None, typer.Argument(metavar="[SESSION]", min=0, help="The session, of a stored run.")
]
ArmName = Annotated[
    str | None,
    typer.Option("--arm", metavar="NAME", help="By default the only arm in which it failed."),
]
TriesLeft = Annotated[
    int, typer.Option("--tries", metavar="N", min=0, help="Runs that shortening may take.")
]
NoShorten = Annotated[
    bool, typer.Option("--no-shorten", help="Stop at the violation, and shorten nothing.")
]
BundleDir = Annotated[
    Path | None,
    typer.Option("--bundle", metavar="DIR", help="Pack the arm into a new folder, to be sent."),
]

Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Folder of the shortened scenario; by default RUN beside the database.",
    ),
]


def refuse(context: typer.Context) -> None:
    """Raise `UserError` where an option was given that means nothing for a bundle."""
    for it in context.command.params:
        source = context.get_parameter_source(it.name or "")
        typed = source is not None and source.name == "COMMANDLINE"
        if typed and it.name not in ("what", "as_json"):
            told = "for a stored run; `kvlab replay RUN SESSION` takes it"
            raise UserError(f"{it.opts[0]}: {told}")


def replay(
    context: typer.Context,
    what: What,
    session: Session = None,
    arm: ArmName = None,
    tries: TriesLeft = 40,
    no_shorten: NoShorten = False,
    bundle: BundleDir = None,
    db: o.Db = o.DB,
    out: Out = None,
    as_json: o.Json = False,
) -> None:
    """Run a failed session's arm again to its violation, and shorten it; or run a bundle again.

    Exit code 1 where the history is another than the stored or packed one.
    """
    from lab.replaying.failed import refuse_bundle, refuse_run
    from lab.replaying.perform import Wish, replay_session
    from lab.store import open_results

    if session is None:
        from lab.replaying.again import replay_bundle

        refuse_run(what, db)
        refuse(context)
        raise typer.Exit(show_replay([replay_bundle(Path(what))], as_json))
    refuse_bundle(what, db)
    wish = Wish(session, arm, tries, not no_shorten, bundle, out)
    with open_results(db, create=False) as results:
        parts = replay_session(results, results.resolve(what), wish)
        raise typer.Exit(show_replay(parts, as_json))
