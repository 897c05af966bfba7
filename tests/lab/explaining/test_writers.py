"""Who wrote a row, as a clause: the ledger's sentence, and what it leaves out."""

from __future__ import annotations

from lab.explaining.damage import Damage
from lab.explaining.writers import clocked, writer

FIELDS = {"writer": "decode step 31 row 2 of request 7", "writer_kind": "decode", "writer_lane": 2}


def test_the_last_writer_of_changed_bytes_is_not_said_to_have_changed_them() -> None:
    assert writer(Damage(1, 1, "read_foreign_row", FIELDS)) == FIELDS["writer"]
    assert (
        writer(Damage(1, 1, "read_changed_bytes", FIELDS))
        == "no operation that is known: bytes changed since decode step 31 row 2 of request 7 "
        "wrote them"
    )


def test_what_nobody_knows_is_left_out() -> None:
    padded = Damage(1, 1, "padded_row_wrote_owned_slot", {"step": 31})
    assert writer(padded) == "dead row of decode step 31"
    whole = {"step": 31, "row": 9, "dead": "padding"}
    assert writer(Damage(1, 1, padded.name, whole)) == "dead row 9 (padding) of decode step 31"
    assert writer(Damage(1, 1, padded.name, {})) == ""


def test_times_of_the_ledger_s_sentences_are_in_seconds_and_told_once() -> None:
    assert clocked("freed at 11627759 us by request 7") == "freed at 11.627759 s by request 7"
    load = {"writer": "load 4, issued at 12.5 ms", "writer_kind": "load", "writer_at_us": 12_500}
    assert writer(Damage(1, 1, "read_foreign_row", load)) == "load 4, issued at 0.012500 s"
    later = {**load, "writer_at_us": 13_000}
    assert writer(Damage(1, 1, "read_foreign_row", later)).endswith(" (at 0.013000 s)")
    assert writer(Damage(1, 1, "read_foreign_row", later), when=False).endswith("at 0.012500 s")
