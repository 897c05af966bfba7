"""The parts of a replay as a person reads them. One rule: they say what the document says."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Part = Mapping[str, Any]
UNKNOWN = "unknown"
USED_UP = "the tries were used up, a larger --tries looks further"
NARROWEST = 20  # columns behind an indent
COMMAND = "    kvlab "  # how a line begins that is to be pasted whole
JOINED = {  # how a wrong reply is joined to what another turn, or nobody, is named by
    "read": "a step of it read these rows",
    "own": "its request is named too",
    "prefix": "it goes on from these rows",
    "restored": "it goes on from a prefix that such a copy brought",
    None: "nothing that was seen before its first wrong token is joined to it",
}


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
        yield f"bundle: {part['bundle']}; this runs it again, anywhere:"
        yield command("replay", part["bundle"])


def fitted(line: str, width: int) -> str:
    """A line of which whatever does not fit stands under its beginning; a command stays whole."""
    if line.startswith(COMMAND) or len(line) <= width:
        return line
    depth = len(line) - len(line.lstrip(" "))
    parts = textwrap.wrap(
        line,
        max(width, depth + NARROWEST),
        subsequent_indent=" " * depth,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(parts)


def command(*words: str) -> str:
    """A line that is a command of kvlab's, as a shell takes it."""
    return f"{COMMAND}{shlex.join(words)}"


def _which(part: Part) -> str:
    return f'run {part["run"]}, arm "{part["arm"]}", seed {part["seed"]}, session {part["session"]}'


def _stopped(part: Part, at: Part) -> Iterator[str]:
    """Where the arm stopped, and at what."""
    if at["failed_no_judge"]:
        sought = "what is sought is the violation that it met"
        yield f"session {part['session']} failed no judge; {sought}"
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
    """Whose the event is, and how it is joined to the wrong reply of the session asked for."""
    reply = "" if at["reply_wrong"] is None else f", whose reply was {_right(at['reply_wrong'])}"
    whose = "no session"
    if at["session"] is not None:
        whose = f"session {at['session']}, turn {at['turn']}{reply}"
    wrong, said = at["wrong_turn"], ""
    if wrong is not None and (at["session"], at["turn"]) != (part["session"], wrong):
        said = f" The wrong reply is of turn {wrong}: {JOINED[at['joined_by']]}."
    if at["concerns_the_session"]:
        return f"It concerns {whose}.{said}"
    none = f", and none names session {part['session']}: the first of the run"
    return f"It names {whose}{'' if at['joined_by'] else none}.{said}"


def _right(wrong: bool) -> str:
    return "wrong" if wrong else "right"


def _shortened(it: Part) -> Iterator[str]:
    """What is left, what went, and how to run it."""
    spent = f"; {USED_UP}" if it["tries_used_up"] else ""
    yield ""
    yield f"shortened in {_many(it['tries'], 'try', 'tries')}{spent}"
    some, turns = it["sessions"], it["turns"]
    yield f"  sessions  {len(some)} of {it['sessions_planned']}: {_listed(some)}"
    yield f"  turns     {sum(turns)} of {it['turns_planned']}: {_listed(turns)}"
    yield from _column("kept", _kept(it))
    went = [f"{key} {_spelled(a)} -> {_spelled(b)}" for key, (a, b) in it["dropped"].items()]
    yield from _column("dropped", went or ["no setting"])
    seen = ", ".join(f"{name} {n}" for name, n in it["violations"].items()) or "no violation"
    yield f"  ends as   {it['verdict']} with {_corrupt(it)}; {seen}"
    yield from _another(it)
    yield f"  history   {it['history_digest']}"
    if it["scenario"] is None:
        yield f"  nothing shorter was found: {it['left_as_it_was']} is left as it was"
        return
    yield "  this repeats it:"
    yield command("run", it["scenario"], *(("--db", it["db"]) if it["db"] else ()))


def _kept(it: Part) -> list[str]:
    """The settings that are needed, and those that the file spells out though they are none."""
    kept = [f"{key}={_spelled(value)}" for key, value in it["deviations"].items()]
    kept = kept or ["no setting: it fails with the defaults"]
    spelled_out = it["at_defaults"].items()
    plain = [f"{key.removeprefix('engine.')}={_spelled(value)}" for key, value in spelled_out]
    if plain:
        kept[-1] += f"; all else at its default ({', '.join(plain)})"
    return kept


def _another(it: Part) -> Iterator[str]:
    """Says so where the session's reply that was wrong is right now, and another is wrong."""
    turn, turns = it["stopped_turn"], it["wrong_turns"]
    if turn is not None and turns and turn not in turns:
        who = f"session {it['session']} fails in {_turns(turns)} there, not in turn {turn}"
        yield f"  another failure of the same kind: {who}"


def _turns(turns: Sequence[int]) -> str:
    return f"{'turn' if len(turns) == 1 else 'turns'} {_listed(turns)}"


def _corrupt(it: Part) -> str:
    """How many replies were corrupt, and which of the session were wrong."""
    n, turns = it["replies_corrupt"], it["wrong_turns"]
    ours = f" (session {it['session']}: turn {_listed(turns)})" if turns else ""
    return f"{_many(n, 'corrupt reply', 'corrupt replies')}{ours}"


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
