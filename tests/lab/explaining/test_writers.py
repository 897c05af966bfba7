"""Who wrote a row, as a clause: the ledger's sentence, and what it leaves out."""

from __future__ import annotations

from lab.explaining.damage import Damage
from lab.explaining.writers import writer

FIELDS = {"writer": "decode step 31 row 2 of request 7", "writer_kind": "decode", "writer_lane": 2}


def test_the_last_writer_of_changed_bytes_is_not_said_to_have_changed_them() -> None:
    assert writer(Damage(1, 1, "read_foreign_row", FIELDS)) == FIELDS["writer"]
    assert (
        writer(Damage(1, 1, "read_changed_bytes", FIELDS))
        == "no operation that is known: bytes changed since decode step 31 row 2 of request 7 "
        "wrote them"
    )
