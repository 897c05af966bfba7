"""`kvlab`: the command line. One rule: a user's mistake is one line on stderr and an exit code.

0    done, whatever the rates
1    an arm is what `--fail-on` names
2    a mistake in an argument, a file or the database
3    the target could not start, or died
130  interrupted; what had finished is stored
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches

import typer
from typer.exceptions import Abort, TyperException

from lab import interrupts
from lab.commands import (
    ab,
    bench,
    bisect,
    catalog,
    compare,
    doctor,
    explain,
    export,
    judge,
    kernels,
    probe,
    replay,
    report,
    run,
    runs,
    scenario,
    serve,
    show,
    sql,
    sweep,
    timeline,
)
from lab.commands.examples import show_examples
from lab.errors import LabError

HELP = """A lab that makes KV-cache corruption happen on purpose, proves it, and names its cause.

Begin with `kvlab scenario list`, then `kvlab run padded_scatter_stale_slots`.
"""

app = typer.Typer(
    name="kvlab",
    help=HELP,
    no_args_is_help=True,
    epilog="`kvlab COMMAND --help` explains one, with an example.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    run.run,
    ab.ab,
    sweep.sweep,
    bisect.bisect,
    report.report,
    runs.runs,
    show.show,
    compare.compare,
    sql.sql,
    export.export,
    timeline.timeline,
    judge.judge,
    explain.explain,
    replay.replay,
):
    app.command()(command)
app.add_typer(scenario.app, name="scenario")
app.add_typer(bench.app, name="bench")
app.add_typer(kernels.app, name="kernels")
app.add_typer(probe.app, name="probe")
app.command()(serve.serve)
app.command()(catalog.catalog)
app.command()(doctor.doctor)
show_examples(app)


def main(argv: Sequence[str] | None = None) -> None:
    """Run one command and exit; the console script."""
    logging.getLogger("asyncio").addFilter(_not_an_interruption)
    interrupts.listen()
    sys.exit(answer(argv))


def answer(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    try:
        return _run(argv)
    except LabError as error:
        return _say(str(error), error.exit_code)
    except TyperException as error:
        return _misused(error)
    except (Abort, KeyboardInterrupt):
        return _say("interrupted", 130)
    except BrokenPipeError:
        # whoever read our output has seen enough; the interpreter's last flush must not complain
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(argv: Sequence[str] | None) -> int:
    """What the command answers; a failure that is an interruption's is told as that."""
    try:
        code = app(args=argv, prog_name="kvlab", standalone_mode=False)
    except (LabError, TyperException):
        raise
    except Exception:
        interrupts.check()
        raise
    return code if isinstance(code, int) else 0


def _not_an_interruption(record: logging.LogRecord) -> bool:
    """Lets asyncio report any task that failed, but not one that the user stopped with Ctrl-C."""
    return not (record.exc_info and isinstance(record.exc_info[1], KeyboardInterrupt))


def _misused(error: TyperException) -> int:
    """An option or a command that there is not; without a message, the help was printed."""
    _keep_near(error)
    message = " ".join(error.format_message().split()).replace("Value error, ", "")
    message = message.replace("Input should be", "must be")
    context = getattr(error, "ctx", None)
    hint = f" (`{context.command_path} --help` explains)" if context else ""
    return _say(message + hint, 2) if message else 0


def _keep_near(error: TyperException) -> None:
    """Of the options that an unknown one is held to mean, those that are like it without dashes."""
    given, offered = getattr(error, "option_name", ""), getattr(error, "possibilities", None)
    if given and offered:
        name = given.strip("-")
        near = [it for it in offered if get_close_matches(name, [it.strip("-")])]
        vars(error)["possibilities"] = near


def _say(message: str, code: int) -> int:
    typer.echo(f"kvlab: {message}", err=True)
    return code


if __name__ == "__main__":
    main()
