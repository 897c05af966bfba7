"""An explanation in words: the chain of a reply, or where to look when no wrong row was read."""

from __future__ import annotations

from dataclasses import replace

from lab.explaining import explained, said
from lab.explaining.choosing import best, explanations
from lab.explaining.document import document, nothing
from lab.records import ArmHistory
from tests.lab.explaining.histories import (
    PADDING,
    arm,
    bad,
    fault,
    found,
    good,
    read,
    violation,
)


def padded() -> ArmHistory:
    """Session 0's second reply read a row that padding had written."""
    write = violation(
        "padded_row_wrote_owned_slot", 0.9, **PADDING, page=245, pool="index_k", slot=15700
    )
    foreign = read("read_foreign_row", 2, 4, freed="freed at 800 us by request 1", **PADDING)
    return arm(good(0, 0, 0.2), bad(0, 1, 6), events=(write, foreign))


def text(
    made: ArmHistory, session: int = 0, kind: str = "corrupt", judge: str = "wrong_text"
) -> str:
    it = explained(made, found(made, kind, judge), session)
    assert it is not None
    return " ".join(" ".join(said(it)).split())


def test_the_chain_goes_from_the_token_to_the_question() -> None:
    told = text(padded())
    for part in (
        'arm "bf16", session 0, turn 1, request 2 (chatcmpl-2): corrupt (wrong_text)',
        "token 6 of 46 (0 = first) is '#' instead of 'f', at position 6,007 of the context",
        "decode step 40 row 3 of request 2 read a wrong row, for token 4 of its reply",
        "pool index_k, layer 1, page 245, slot 15700 of the pool, token 812 of the reader's",
        "padding lane 9 of decode step 31 (at 0.900000 s).",
        "request 2 held the page when it was seen.",
        "The page was last freed at 0.000800 s by request 1.",
        "dead_rows: a row that must not write has to carry the reserved slot before the step",
        "index_k_store: a row that is not live must not be stored.",
        "dead_rows: Which slot does a row carry that must not write?",
        "0.900000 s padded_row_wrote_owned_slot (padding lane 9 of decode step 31)",
        "read_foreign_row (read by decode step 40 row 3 of request 2)",
        "how often in this arm: padded_row_wrote_owned_slot was seen once, in 1 event.",
    ):
        assert part in told


def test_the_words_are_the_same_every_time() -> None:
    made = padded()
    it = explained(made, found(made), 0)
    again = explained(made, found(made), 0)
    assert it is not None and again is not None
    assert said(it) == said(again)
    assert not set("│┃─━┌") & set("".join(said(it)))


def test_the_ledger_s_own_edge_comes_before_the_question_s() -> None:
    edge = "backup 3 did not wait for prefill step 5"
    made = arm(bad(0, 0, 6), events=(read("read_changed_bytes", 1, edge=edge, writer_kind="load"),))
    told = text(made)
    assert told.index(edge) < told.index("must have run before its backup reads it")


def test_a_token_of_another_row_is_no_wrong_row() -> None:
    astray = violation("token_of_another_row", 1.06, request=1, owner=11, row=4)
    told = text(arm(bad(0, 0, 6), events=(astray,)))
    assert "no wrong row was read" in told and "another reply's token" in told
    assert "row_owner" in told and "what it read" not in told


def test_a_first_token_of_another_room_is_a_slot_s() -> None:
    slot = violation("first_token_of_another_room", 0.9, room=1, tag=7, token=32)
    told = text(arm(bad(0, 0, 0 + 1), events=(slot,)))
    assert "room 1 took the first token 32 from a metadata slot that still held room 7's" in told
    assert "metadata_check" in told


def test_a_parser_fault_points_at_the_parser() -> None:
    told = text(arm(good(0, 0)), kind="parser_fault", judge="parser_fault")
    assert "none: the raw text is the expected one" in told and "look at the parser" in told


def test_of_a_text_that_nobody_knows_no_first_wrong_token_is_told() -> None:
    unknown = replace(good(0, 0), expected_text="")
    told = text(arm(unknown), kind="parser_fault", judge="parser_fault")
    assert "nobody knows what this reply had to say" in told
    assert "the raw text is the expected one" not in told


def test_a_nondeterministic_reply_points_at_the_order_of_things() -> None:
    assert "not ordered" in text(arm(good(0, 0)), kind="nondeterministic", judge="nondeterminism")


def test_a_reply_that_failed_points_at_its_room_s_fault_or_at_the_transport() -> None:
    lost = replace(good(0, 0), status="timeout", error="no end in time")
    told = text(arm(lost), kind="unfinished", judge="timed_out")
    assert "look at the client, its patience and the transport" in told
    late = fault("room_failed_though_complete", 1.1, room=1)
    told = text(arm(lost, events=(late,)), kind="unfinished", judge="timed_out")
    assert "room_failed_though_complete at 1.100000 s" in told and "receiver_poll" in told


def test_a_wrong_text_without_damage_is_said_to_have_none() -> None:
    told = text(arm(bad(0, 0, 6)))
    assert "no wrong row that this reply read" in told and "a kernel, nondeterminism" in told
    off = replace(arm(bad(0, 0, 6)), settings={"ledger": "off"})
    assert "The ledger was off" in text(off)


def test_damage_that_nothing_joins_is_not_said_to_be_the_reply_s() -> None:
    made = arm(bad(0, 0, 6), events=(violation("padded_row_wrote_owned_slot", owner="request 99"),))
    told = text(made)
    assert "Nothing says that this reply met it" in told and "no wrong row was read" in told


def test_without_a_session_it_is_the_one_with_the_strongest_evidence() -> None:
    made = padded()
    made.replies.append(bad(5, 0, 1))
    chosen = best(list(explanations(made, found(made))))
    assert chosen is not None and chosen.reply.session == 0


def test_a_session_that_did_not_fail_has_no_explanation() -> None:
    assert explained(padded(), found(padded()), 3) is None
    assert best([]) is None


def test_damage_that_reached_others_is_counted() -> None:
    made = padded()
    made.replies.append(good(4, 0))
    made.events.append(read("read_foreign_row", 41, 9, **PADDING))
    assert "read wrongly by 1 other request, of 1 other session, after it" in text(made)


def test_the_document_holds_the_chain_root_first_and_the_words() -> None:
    made = padded()
    it = explained(made, found(made), 0)
    assert it is not None
    told = document("r1", it, 2)
    assert [link["name"] for link in told["chain"]] == [
        "padded_row_wrote_owned_slot",
        "read_foreign_row",
    ]
    assert told["found"] == "wrong_row" and told["joined_by"] == "read" and told["others"] == 2
    assert told["questions"][0]["seam"] == "dead_rows" and told["said"] == said(it)
    assert told["first_wrong_token"]["index"] == 6 and told["tokens_before"] == 2
    assert told["alike"] == {"replies": 1, "right": 0}
    assert told["which_question_is_sure"] is False and len(told["questions"]) == 2
    assert told.keys() == nothing("r1", None, None, []).keys()


def test_how_far_the_wrong_token_is_from_the_read_and_what_was_read_before_is_told() -> None:
    reads = [read("read_foreign_row", 1, n, page=9 + n, **PADDING) for n in (1, 2, 4)]
    told = text(arm(bad(0, 0, 6), events=tuple(reads)))
    assert "for token 4 of its reply: pool index_k, layer 1, page 13" in told
    assert "Tokens 4 to 5, sampled at and after this read, are still right." in told
    assert "2 other events tell of wrong rows that it read by then (for tokens 1, 2" in told
    near = text(arm(bad(0, 0, 6), events=(read("read_foreign_row", 1, 5, **PADDING),)))
    assert "Token 5, sampled at this read, is still right." in near
    at = text(arm(bad(0, 0, 6), events=(read("read_foreign_row", 1, 6, **PADDING),)))
    assert "The step computed the first wrong token itself." in at


def test_how_many_replies_that_read_so_are_right_is_told() -> None:
    reads = [read("read_foreign_row", by, 4, **PADDING) for by in (1, 11, 21)]
    told = text(arm(bad(0, 0, 6), good(1, 0), good(2, 0), good(3, 0), events=tuple(reads)))
    assert "2 of 3 replies of this arm that read such a row came out right." in told
    assert "one that was not selected, and should not have been, does no harm" in told


def test_the_question_is_that_of_the_chain_shown_and_other_rows_point_elsewhere() -> None:
    loaded = {"writer": "load 4 of host page 3", "writer_kind": "load", "page": 10}
    before = read("read_foreign_row", 1, 2, **PADDING)
    shown = read("read_foreign_row", 1, 5, slot=640, **loaded)
    made = arm(bad(0, 0, 6), events=(before, shown))
    it = explained(made, found(made), 0)
    assert it is not None and it.effect is not None and it.effect.fields is shown[2]
    assert {q.seam for q in it.questions} == {"backup_start", "host_reuse", "backup_refusal"}
    assert it.elsewhere == ("dead_rows", "index_k_store")
    told = text(made)
    assert "Other rows that it read point at: dead_rows, index_k_store." in told
    assert "row that must not write has to carry" not in told


def test_a_room_that_wrote_is_called_a_room() -> None:
    wire = {"writer": "wire write of room 7", "writer_kind": "transfer", "writer_room": 7}
    told = text(arm(bad(0, 0, 6), events=(read("read_foreign_row", 1, 4, **wire),)))
    assert "The writer worked for room 7, whose request did not own it." in told
    assert "request 7" not in told


def test_who_read_the_page_before_or_after_it_was_handed_on_is_a_stranger() -> None:
    made = padded()
    made.replies.append(good(4, 0))
    made.events.append(read("read_foreign_row", 41, 9, **{**PADDING, "generation": 3}))
    made.events.insert(0, read("read_foreign_row", 41, 0, **PADDING))
    assert "read wrongly by" not in text(made)
