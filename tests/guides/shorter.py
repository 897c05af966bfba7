"""How a guide's command is made short enough for a test. One rule: options are added, none is lost.

What is added comes behind what the guide says, and the last of an option holds. Commands at their
full size are run by the slow tests of `tests/scenarios`.
"""

from __future__ import annotations

LITTLE = ("--sessions", "1", "--set", "workload.preset=small")
CORRUPT = ("--sessions", "16", "--set", "workload.preset=small")  # enough to go wrong
ONE_BOOT = ("--budget", "16", "--no-confirm", "--no-replay")
STARTED = ("vllm", "sglang", "probe_vllm", "probe_sglang")  # targets that are not installed here

# the first whose words a command begins with
RULES: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("kvlab", "run", "padded_scatter_stale_slots"), CORRUPT),
    (("kvlab", "run"), LITTLE),
    (("kvlab", "ab"), LITTLE),
    (("kvlab", "sweep"), LITTLE),
    (("kvlab", "bisect"), ONE_BOOT),
    (("kvlab", "replay"), ("--tries", "1")),
)


def shorter(argv: list[str]) -> list[str]:
    """The command as a test runs it."""
    if any(word.startswith(STARTED) or "/real/" in word for word in argv):
        return [*argv, "--dry-run"] if "--dry-run" not in argv else argv
    if "--plan" in argv or "--help" in argv or "--dry-run" in argv:
        return argv
    for begins, more in RULES:
        if tuple(argv[: len(begins)]) == begins:
            return [*argv, *more]
    return argv
