"""A violation's evidence as sentences; no field is lost."""

from __future__ import annotations

from lab.replaying.words import sentences


def test_a_bad_read_is_told_by_its_reader_its_row_its_writer_and_the_edge() -> None:
    fields = {
        **{"name": "read_stale_generation", "n": 3, "pool": "index_k", "layer": 0, "page": 2},
        **{"slot": 161, "position": 40, "generation": 7, "state": "VALID", "owner": "request 7"},
        **{"reader": "decode step 40 row 3 of request 12", "request": 12, "step": 40, "output": 1},
        **{"writer": "padding lane 9 of decode step 31", "writer_kind": "padding"},
        **{"writer_step": 31, "writer_lane": 9, "writer_at_us": 88},
        **{"freed": "freed at 80 us by request 7", "edge": "the free waits for the step"},
    }
    assert sentences(fields) == [
        "Decode step 40 row 3 of request 12 read slot 161 of index_k (page 2, layer 0), position "
        "40 of its context, for token 1 of its reply.",
        "It belongs to request 7 and is VALID, generation 7; before that, freed at 0.000080 s by "
        "request 7.",
        "Last written by padding lane 9 of decode step 31 at 0.000088 s.",
        "What should have ordered them: the free waits for the step.",
    ]


def test_what_is_nobody_s_was_freed_and_every_time_is_seconds() -> None:
    fields = {"owner": "nobody", "state": "FREE", "freed": "freed at 11303271 us by request 26"}
    fields["writer"] = "load 4 of host pages, issued at 12.5 ms"
    assert sentences(fields) == [
        "It belongs to nobody and is FREE.",
        "Last written by load 4 of host pages, issued at 0.012500 s.",
        "It was freed at 11.303271 s by request 26.",
    ]


def test_other_evidence_is_told_as_it_is() -> None:
    fields = {"name": "row_shared_by_two_slots", "n": 2, "step": 31, "lost_slot": 4}
    assert sentences(fields) == ["Step 31, lost slot 4."]


def test_no_evidence_is_no_sentence() -> None:
    assert sentences({"name": "loading_event_reused", "n": 1}) == []
