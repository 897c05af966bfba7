"""How a guide's command is made short enough for a test. One rule: options are added, none is lost.

What is added comes behind what the guide says, and the last of an option holds. Commands at their
full size are run by the slow tests of `tests/scenarios`.
"""

from __future__ import annotations

LITTLE = ("--sessions", "1", "--set", "workload.preset=small")
CORRUPT = ("--sessions", "8", "--set", "workload.preset=small")  # enough to go wrong
NO_MORE = ("--no-confirm", "--no-replay")

# the first whose words a command begins with
RULES: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("kvlab", "run", "padded_scatter_stale_slots"), CORRUPT),
    (("kvlab", "run"), LITTLE),
    (("kvlab", "ab"), LITTLE),
    (("kvlab", "sweep"), LITTLE),
    (("kvlab", "bisect"), NO_MORE),
    (("kvlab", "replay", "last"), ("--tries", "1")),
)


def shorter(argv: list[str]) -> list[str]:
    """The command as a test runs it."""
    if argv[1:2] == ["run"] and any("/real/" in word for word in argv):
        return [*argv, "--dry-run"]  # of a server that is not installed here
    if "--plan" in argv or "--help" in argv or "--dry-run" in argv:
        return argv
    for begins, more in RULES:
        if tuple(argv[: len(begins)]) == begins:
            return [*argv, *more]
    return argv
