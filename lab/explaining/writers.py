"""Who wrote a row, as a clause. One rule: the ledger's own sentence where it has one.

Violations that name their writer by their fields alone have a sentence here.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from lab.explaining.timeline import NS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lab.explaining.damage import Damage

BY_NAME: Mapping[str, str] = {
    "padded_row_wrote_owned_slot": "dead row {row} ({dead}) of decode step {step}",
    "row_shared_by_two_slots": "step {step}, which wrote slot {slot}: slot {lost_slot} has the "
    "same bytes",
    "late_write_into_owned_page": "a {piece} write of room {writer_room}, which had lost its pages",
    "load_wrote_page_in_use": "a load of host page {host_page} into a page that was in use",
    "restored_page_differs": "a load of host page {host_page}, which did not bring back what its "
    "backup had copied",
    "page_changed_under_backup": "a backup that copied page {page} to host page {host_page} before "
    "the page was finished",
    "host_page_changed_under_load": "a load of host page {host_page}, which was handed on before "
    "the load had landed",
    "host_hit_on_unwritten_page": "a load of host page {host_page}, which no backup had filled",
    "room_bytes_differ": "the transfer of room {room}: what arrived is not what was sent",
    "read_of_unwritten_row": "nobody, since the page was handed out to {owner}",
    "page_changed_between_match_and_read": "whoever was given the page since it was matched: it is "
    "held by {owner}",
    "read_before_load": "nobody yet: the load of the layer had not landed",
}

# seen at level full: whoever wrote the row is not to blame, and nobody else is known
CHANGED = "read_changed_bytes", "no operation that is known: bytes changed since {} wrote them"


class _Known(dict[str, object]):
    """Fields of a template; one that an event lacks is said to be unknown."""

    def __missing__(self, key: str) -> str:
        return f"(unknown {key})"


def writer(damage: Damage) -> str:
    """Who wrote last, in which step and lane, and when; empty where nothing says so."""
    named = BY_NAME.get(damage.name, "").format_map(_Known(damage.fields))
    told = damage.text("writer")
    if damage.text("writer_kind") == "none":
        return named or "nobody, since the page was handed out"
    if told:
        lane = damage.fields.get("writer_lane")
        numbers = {
            "step": damage.number("writer_step"),
            "request": damage.number("writer_request"),
            "room": damage.number("writer_room"),
        }
        more = [f"{what} {n}" for what, n in numbers.items() if n and f"{what} {n}" not in told]
        if lane is not None and not {f"row {lane}", f"lane {lane}"} & set(_pairs(told)):
            more.append(f"lane {lane}")
        at_us = damage.fields.get("writer_at_us")
        when = f" (at {seconds(int(at_us) * 1000)})" if at_us is not None else ""
        said = ", ".join([told, *more]) + when
        return CHANGED[1].format(said) if damage.name == CHANGED[0] else said
    return named


def seconds(at_ns: int) -> str:
    """A time of the arm's clock: ``12.669531 s``."""
    return f"{at_ns / NS:.6f} s"


def _pairs(text: str) -> list[str]:
    return [" ".join(pair) for pair in pairwise(text.split())]
