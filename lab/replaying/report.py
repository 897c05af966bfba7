"""The parts of a replay as a person reads them. One rule: they say what the document says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Part = Mapping[str, Any]
UNKNOWN = "unknown"


def replay_lines(part: Part) -> Iterator[str]:
    """The lines of whatever a part holds: where it stopped, what is left, the bundle."""
    if "same" in part:
        yield from _compared(part)
        return
    if part.get("stopped"):
        yield from _stopped(part, part["stopped"])
    if part.get("differs"):
        yield f"{_which(part)}: goes another way than the stored run."
        yield from _differs(part["differs"], "stored")
    if "shortened" in part:
        yield from _shortened(part["shortened"])
    if "bundle" in part:
        yield ""
        yield f"bundle: {part['bundle']}; `kvlab replay {part['bundle']}` runs it again anywhere"


def _which(part: Part) -> str:
    return f'run {part["run"]}, arm "{part["arm"]}", seed {part["seed"]}, session {part["session"]}'


def _stopped(part: Part, at: Part) -> Iterator[str]:
    """Where the arm stopped, and at what."""
    yield f"{_which(part)}: stopped at {_what(at)}."
    step = f"step {at['step']}, " if at["step"] is not None else ""
    steps = f"after {at['prefill_steps']} prefill and {at['decode_steps']} decode steps"
    yield f"  at {at['at_s']:.6f} s of virtual time, {step}{steps}"
    yield f"  event {at['event']:,} of {at['events']:,}; all as stored up to here"
    yield f"  {_concerned(part, at)}"
    for sentence in at["says"]:
        yield f"  {sentence}"


def _what(at: Part) -> str:
    if at["name"] is None:
        return "the session's first wrong reply"
    n = at["fields"].get("n", 1)
    return f"{at['name']}{f' ({n} times at once)' if n != 1 else ''}"


def _concerned(part: Part, at: Part) -> str:
    """Whose the event is, said of the session that was asked for."""
    if at["concerns_the_session"]:
        return f"It concerns session {at['session']}, turn {at['turn']}."
    whose = "no session"
    if at["session"] is not None:
        whose = f"session {at['session']}, turn {at['turn']}"
    return f"It names {whose}, and none names session {part['session']}: the first of the run."


def _shortened(it: Part) -> Iterator[str]:
    """What is left, what went, and how to run it."""
    spent = "; the tries were used up, --tries N goes on" if it["tries_used_up"] else ""
    yield ""
    yield f"shortened in {_many(it['tries'], 'try', 'tries')}{spent}"
    some, turns = it["sessions"], it["turns"]
    yield f"  sessions  {len(some)} of {it['sessions_planned']}: {_listed(some)}"
    yield f"  turns     {sum(turns)} of {it['turns_planned']}: {_listed(turns)}"
    kept = [f"{key}={_spelled(value)}" for key, value in it["deviations"].items()]
    yield from _column("kept", kept or ["no setting: it fails with the defaults"])
    went = [f"{key} {_spelled(a)} -> {_spelled(b)}" for key, (a, b) in it["dropped"].items()]
    yield from _column("dropped", went or ["no setting"])
    seen = ", ".join(f"{name} {n}" for name, n in it["violations"].items()) or "no violation"
    yield f"  ends as   {it['verdict']} with {seen}"
    yield f"  history   {it['history_digest']}"
    yield f"  `kvlab run {it['scenario']}` repeats it"


def _compared(part: Part) -> Iterator[str]:
    """A bundle that was run again."""
    if part["same"]:
        yield f"{part['bundle']}: {_which(part)}: the same history."
        yield f"  {part['events']:,} events, {part['verdict']} as packed"
        yield f"  {part['history_digest']}"
        return
    yield f"{part['bundle']}: {_which(part)}: ANOTHER history."
    yield f"  {part['verdict']} here, {part['bundle_verdict']} as packed"
    if part["differs"]:
        yield from _differs(part["differs"], "packed")


def _differs(it: Part, stored: str) -> Iterator[str]:
    """The first event that differs, and the versions that do."""
    yield f"  the first event that differs is event {it['event']:,}:"
    yield f"    {stored:7} {_event(it['was'])}"
    yield f"    here    {_event(it['here'])}"
    changed = [
        f"{name} {was or UNKNOWN} {stored}, {here or UNKNOWN} here"
        for name, (was, here) in it["versions"].items()
    ]
    yield f"  versions that differ: {'; '.join(changed) or 'none'}"


def _event(told: Part | None) -> str:
    if told is None:
        return "the history has ended"
    fields = ", ".join(f"{key} {value}" for key, value in told["fields"].items())
    return f"{told['kind']} at {told['at_s']:.6f} s: {fields}"


def _column(head: str, lines: Sequence[str]) -> Iterator[str]:
    """Lines under each other behind what they are."""
    for at, line in enumerate(lines):
        yield f"  {'' if at else head:8}  {line}"


def _many(n: int, one: str, several: str) -> str:
    return f"{n} {one if n == 1 else several}"


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _spelled(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
