"""Who wrote a row, as a clause. One rule: the ledger's own sentence where it has one.

Violations that name their writer by their fields alone have a sentence here. Times are in seconds,
whatever the ledger's own sentences have.
"""

from __future__ import annotations

import re
from itertools import pairwise
from string import Formatter
from typing import TYPE_CHECKING, Any

from lab.explaining.timeline import NS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lab.explaining.damage import Damage

# What stands in brackets is said where its fields are known.
BY_NAME: Mapping[str, str] = {
    "padded_row_wrote_owned_slot": "dead row[ {row}][ ({dead})] of decode step {step}",
    "row_shared_by_two_slots": "step {step}, which wrote slot {slot}[: slot {lost_slot} has the "
    "same bytes]",
    "late_write_into_owned_page": "a [{piece} ]write of room {writer_room}, which had lost its "
    "pages",
    "load_wrote_page_in_use": "a load[ of host page {host_page}] into a page that was in use",
    "restored_page_differs": "a load[ of host page {host_page}], which did not bring back what its "
    "backup had copied",
    "page_changed_under_backup": "a backup that copied[ page {page}][ to host page {host_page}] "
    "before the page was finished",
    "host_page_changed_under_load": "a load[ of host page {host_page}], which was handed on before "
    "the load had landed",
    "host_hit_on_unwritten_page": "a load[ of host page {host_page}], which no backup had filled",
    "room_bytes_differ": "the transfer[ of room {room}]: what arrived is not what was sent",
    "read_of_unwritten_row": "nobody, since the page was handed out[ to {owner}]",
    "page_changed_between_match_and_read": "whoever was given the page since it was matched[: it "
    "is held by {owner}]",
    "logits_outside_their_row": "nobody, where row {row} of the step reads its logits: they were "
    "written at entry {offset} of the buffer, and belong at {belongs}",
    "read_before_load": "nobody yet: the load of the layer had not landed",
}
OPTIONAL = re.compile(r"\[([^\]]*)\]")

# seen at level full: whoever wrote the row is not to blame, and nobody else is known
CHANGED = "read_changed_bytes", "no operation that is known: bytes changed since {} wrote them"


TIME = re.compile(r"\b(\d+(?:\.\d+)?) (us|ms)\b")
PER_S = {"us": 1_000_000, "ms": 1_000}


def writer(damage: Damage, when: bool = True) -> str:
    """Who wrote last, in which step and lane, and ``when``; empty where nothing says so."""
    named = _filled(BY_NAME.get(damage.name, ""), damage.fields)
    if damage.text("writer_kind") == "none":
        return named or "nobody, since the page was handed out"
    if not (told := clocked(damage.text("writer"))):
        return named
    said = ", ".join([told, *_numbers(damage, told)]) + (_when(damage, told) if when else "")
    return CHANGED[1].format(said) if damage.name == CHANGED[0] else said


def seconds(at_ns: int) -> str:
    """A time of the arm's clock: ``12.669531 s``. Cut to a microsecond, as the ledger's own are."""
    return f"{at_ns // 1_000 / 1_000_000:.6f} s"


def clocked(text: str) -> str:
    """A sentence of the ledger with its times as `seconds` has them."""
    return TIME.sub(lambda it: seconds(round(float(it[1]) * NS / PER_S[it[2]])), text)


def _numbers(damage: Damage, told: str) -> list[str]:
    """The writer's numbers that its sentence does not tell."""
    keys = {"step": "writer_step", "request": "writer_request", "room": "writer_room"}
    numbers = {what: damage.number(key) for what, key in keys.items()}
    more = [f"{what} {n}" for what, n in numbers.items() if n and f"{what} {n}" not in told]
    lane = damage.fields.get("writer_lane")
    if lane is not None and not {f"row {lane}", f"lane {lane}"} & set(_pairs(told)):
        more.append(f"lane {lane}")
    return more


def _when(damage: Damage, told: str) -> str:
    at_us = damage.fields.get("writer_at_us")
    at = "" if at_us is None else seconds(int(at_us) * 1000)
    return f" (at {at})" if at and at not in told else ""


def _filled(form: str, fields: Mapping[str, Any]) -> str:
    """A template with its fields; empty where one is missing that it cannot do without."""
    whole = OPTIONAL.sub(lambda part: part[1] if _known(part[1], fields) else "", form)
    return whole.format_map(fields) if _known(whole, fields) else ""


def _known(form: str, fields: Mapping[str, Any]) -> bool:
    return all(name in fields for _, name, _, _ in Formatter().parse(form) if name)


def _pairs(text: str) -> list[str]:
    return [" ".join(pair) for pair in pairwise(text.split())]
