"""One broken invariant as the ledger told of it. One rule: whoever reads its fields asks here.

What it is goes by its name: a **read** of a wrong row is what a reply can be wrong by; a **write**
and a **copy** are what made the row wrong; a **token** was handed to another request, and a
**slot** of metadata held another room's; a **fault** of the engine destroyed nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from lab.concerned import NAMED, number_of
from lab.exposure import FAULTS

if TYPE_CHECKING:
    from collections.abc import Mapping

Role = Literal["read", "write", "copy", "token", "slot", "fault"]
ROWS: tuple[Role, ...] = ("read", "write", "copy")  # of these a row is wrong

ROLES: Mapping[str, Role] = {
    "page_changed_between_match_and_read": "read",
    "hot_entry_differs": "read",
    "logits_outside_their_row": "read",
    "restored_page_differs": "copy",
    "page_changed_under_backup": "copy",
    "host_page_changed_under_load": "copy",
    "host_hit_on_unwritten_page": "copy",
    "room_bytes_differ": "copy",
    "token_of_another_row": "token",
    "first_token_of_another_room": "slot",
    **dict.fromkeys(FAULTS, "fault"),
}
ITSELF = "itself"
HOST = "host"  # the tier of an event that is of the host's pages


@dataclass(frozen=True)
class Damage:
    """The ``order``-th event of an arm, a violation; ``at_ns`` is of the arm's clock."""

    order: int
    at_ns: int
    name: str
    fields: Mapping[str, Any]

    @property
    def role(self) -> Role:
        """What kind of damage it is."""
        return ROLES.get(self.name, "read" if self.name.startswith("read_") else "write")

    @property
    def hurt(self) -> tuple[int, ...]:
        """The requests that it harmed, as far as it names them.

        Who read, else whose the row is; of a token, who got it and who lost it.
        """
        named = [number for key in NAMED if (number := self.number(key))]
        return tuple(named if self.role == "token" else named[:1])

    @property
    def parties(self) -> tuple[str, ...]:
        """The kinds of the operations in it: ``padding``, ``load``, ``backup``, ``wire``, ...;
        ``itself`` where a request wrote what it read: its other row has the same bytes.
        """
        first = self.text("reader").partition(" ")[0]
        own = self.number("request") and self.number("request") == self.number("writer_request")
        kinds = (self.text("writer_kind"), first, ITSELF if own else "")
        return tuple(kind for kind in kinds if kind)

    def number(self, key: str) -> int:
        """A field's number, of ``7`` as of ``request 7``; 0 where there is none."""
        return number_of(self.fields.get(key))

    def text(self, key: str) -> str:
        """A field as text; empty where there is none."""
        return str(self.fields.get(key, ""))
