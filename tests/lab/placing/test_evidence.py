"""What a fault says that it damaged is set beside the replies that met it."""

from __future__ import annotations

from typing import Any

from lab.explaining.choosing import Inquiry
from lab.explaining.words import said
from lab.placing.evidence import COUNTED, Evidence, counted
from lab.placing.judge import located
from lab.records import ArmHistory, Finding
from tests.lab.placing.shows import again, history, plans, prompt
from tests.lab.placing.test_judge import first_symbol, wrong_at

PLAN = plans()[0]
TURN, FIRST = again(PLAN)


def met(session: int, turn: int, first: int, damage: int = 1, **more: Any) -> dict[str, Any]:
    """A line of the fault: a block of 16 tokens of that turn's prompt."""
    row = {"met": damage, "request": f"chatcmpl-{session}{turn}-0a1b2c3d", "first": first}
    return row | {"end": first + 16, "computed": first + 16, "prefill": 16, "decode": 0, **more}


def symbols_block() -> int:
    """The block that holds the first symbol of the reply that is asked for again."""
    context = prompt(PLAN, TURN)
    [part] = [it for it in context.parts if (it.kind, it.turn) == ("reply", FIRST)]
    due = PLAN.turns[FIRST].expected_text
    char = ord(due[first_symbol(due)])
    ids = context.ids
    at = next(i for i in range(part.start, part.end) if ids[i - 1 : i + 1] == (ord(">"), char))
    return at // 16 * 16


def damaged(
    *rows: dict[str, Any],
    wrong: tuple[tuple[int, int, str], ...] = (),
    told: tuple[dict[str, Any], ...] = ({},),
) -> ArmHistory:
    """An arm with damages 1, 2, ... of which ``told`` says more."""
    swaps = [{"damage": number, "how": "swap", **more} for number, more in enumerate(told, 1)]
    return history(*wrong, fault_injected=swaps, fault_met=list(rows))


def test_a_reply_that_needs_decoded_rows_and_comes_out_wrong_is_found_there() -> None:
    due = PLAN.turns[TURN].expected_text
    arm = damaged(
        met(0, TURN, symbols_block(), prefill=2, decode=14),
        wrong=(wrong_at(0, TURN, first_symbol(due)),),
    )
    [hit] = Evidence(arm).hits()
    assert (hit.depends, hit.wrong, hit.found) == (hit.met, True, True)
    (row,) = counted([hit]).items()
    assert row[0] == "swap, written by both"
    assert row[1] == dict.fromkeys(COUNTED, 0) | dict.fromkeys(COUNTED[:4], 1)


def test_rows_that_a_reply_does_not_need_are_counted_apart() -> None:
    [hit] = Evidence(damaged(met(1, 0, 16))).hits()
    assert (hit.depends, hit.wrong, hit.found) == ((), False, False)
    assert counted([hit])["swap, written by prefill"]["needed"] == 0


def test_rows_that_lie_where_a_reply_looks_double_it() -> None:
    n = len(prompt(PLAN, 0).ids)
    for brings, doubled in ((16, 0), (n - 16, 1)):
        arm = damaged(met(0, 0, 16, computed=n), told=({"brings": brings},))
        [hit] = Evidence(arm).hits()
        assert (hit.depends, hit.doubled) == ((), bool(doubled))
        assert counted([hit])["swap, written by prefill"]["doubled"] == doubled


def test_a_later_turn_reads_through_what_the_session_met_before() -> None:
    """Its rows after the damaged ones are then in the cache, and are not what they should be."""
    late = met(0, TURN, 16, computed=len(prompt(PLAN, TURN).ids))
    for earlier, had in (((), late["computed"]), ((met(0, 0, 16),), 32)):
        *_, hit = Evidence(damaged(*earlier, late)).hits()
        assert (hit.reply.turn, hit.met[0].computed) == (TURN, had)


def test_blocks_that_were_exchanged_within_one_prompt_are_not_needed() -> None:
    block = symbols_block()
    swap = {"step": 4, "block_id": 7, "other": 9, "brings": 16}
    back = {"step": 4, "block_id": 9, "other": 7, "brings": block}
    both = met(0, TURN, block), met(0, TURN, 16, damage=2)
    for rows, needed in ((both[:1], True), (both, False)):
        [hit] = Evidence(damaged(*rows, told=(swap, back))).hits()
        assert (bool(hit.depends), hit.doubled) == (needed, False)


def test_rows_that_were_damaged_after_the_reply_had_read_them_are_not_needed() -> None:
    n = len(prompt(PLAN, 0).ids)
    late = met(0, 0, n - 16, computed=n + 200)
    soon = met(0, 0, n - 16, computed=n)
    assert [bool(hit.depends) for hit in Evidence(damaged(late)).hits()] == [False]
    assert [bool(hit.depends) for hit in Evidence(damaged(soon)).hits()] == [True]


def test_replies_after_a_wrong_one_prove_nothing() -> None:
    arm = damaged(met(0, 0, 16), met(0, 1, 16), wrong=(wrong_at(0, 0, 60),))
    assert [hit.reply.turn for hit in Evidence(arm).hits()] == [0]


def test_an_explanation_says_what_should_have_been_read_and_what_the_fault_did() -> None:
    due = PLAN.turns[TURN].expected_text
    block = symbols_block()
    arm = damaged(
        met(0, TURN, block, prefill=2, decode=14),
        met(0, TURN, 16),
        wrong=(wrong_at(0, TURN, first_symbol(due)),),
    )
    arm.events.insert(0, (0, "server", {"url": "http://127.0.0.1:1", "boot": 1, "model": "probe"}))
    found = located(arm, [Finding(0, TURN, "wrong_text", "fail", "character 9 on")])
    told = " ".join(said(Inquiry(arm, found).explain(0)))
    for part in (
        f", block {block // 16} of 16 tokens: token ",
        f"damage 1 (swap) to tokens {block:,} to {block + 15:,}, written 2 by prefill and 14 by "
        "decode: the place is in it.",
        "to tokens 16 to 31, written 16 by prefill: the place is elsewhere.",
        "tells no rows: what was read is not known, what should have been read is.",
    ):
        assert part in told
