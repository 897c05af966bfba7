"""What an arm's history proves: six verdicts, one for each way in which an arm can end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lab.detectors import DETECTORS, Detector, Kind
from lab.judging import compare, judge_arm
from lab.records import ArmHistory, ArmVerdict, Reply
from lab.report.words import expected_word
from lab.stats import fisher, newcombe, wilson
from tests.lab.replies import EXPECTED, TOOLS, call, said

EXERCISE = {
    "graph": "graph_replays",
    "radix": "prefix_hits",
    "overlap": "overlap_steps",
    "hicache": "pages_restored",
    "hisparse": "hisparse_swap_ins",
}
ON = {**dict.fromkeys(EXERCISE, True), "index_k": "bf16"}
USED = {**dict.fromkeys(EXERCISE.values(), 4), "padded_rows": 5}
RIGHT, WRONG = said(EXPECTED), said(call(table="MINE12346"))
OFFERED = [{"type": "function", "function": {"name": n, "parameters": p}} for n, p in TOOLS.items()]


def placed(reply: Reply, session: int, turn: int = 0, **changes: Any) -> Reply:
    return replace(reply, session=session, turn=turn, **changes)


def arm(*replies: Reply, **changes: Any) -> ArmHistory:
    import json

    empty = ArmHistory(
        name="an arm",
        settings=ON,
        sessions=len({reply.session for reply in replies}),
        replies=list(replies),
        counters=dict(USED),
        events=[(0, "tools_offered", {"tools": json.dumps(OFFERED)})],
        history_digest="sha256:0",
        wall_s=1.0,
        virtual_s=10.0,
    )
    return replace(empty, **changes)


def verdict(history: ArmHistory) -> tuple[str, str]:
    found, _ = judge_arm(history)
    return found.verdict, found.reason


def test_all_right_and_exercised_is_clean() -> None:
    found, findings = judge_arm(arm(placed(RIGHT, 0), placed(RIGHT, 1)))
    assert (found.verdict, found.reason, findings) == ("clean", "", [])
    assert (found.sessions_corrupt, found.rate, found.replies_due) == (0, 0.0, 2)
    assert found.ci95[0] == 0.0
    assert {key: n for key, n in found.exposure.items() if n} == USED


def test_a_counter_that_never_moved_is_in_the_exposure_as_zero() -> None:
    found, _ = judge_arm(arm(placed(RIGHT, 0), counters={"graph_replays": 3}))
    never = ("padded_rows", "host_hits", "pages_restored", "transfers", "aborts_in_flight")
    more = ("prefix_hits", "retractions", "evicted_pages", "large_prefill_rows")
    assert found.exposure == {**dict.fromkeys((*never, *more), 0), "graph_replays": 3}


def test_one_wrong_reply_is_corrupt_and_rates_count_sessions() -> None:
    history = arm(
        placed(WRONG, 0, 0), placed(WRONG, 0, 1), placed(said("<think>x"), 1, 0), placed(RIGHT, 2)
    )
    found, _ = judge_arm(history)
    assert (found.verdict, found.replies_corrupt, found.sessions_corrupt) == ("corrupt", 3, 2)
    assert found.rate == pytest.approx(2 / 3)
    assert found.outcomes == {"wrong_value": 2, "tag_salad": 1}
    assert sum(found.outcomes.values()) == found.replies_corrupt


def test_a_violation_without_a_wrong_reply_is_corrupt_too() -> None:
    history = arm(placed(RIGHT, 0), counters={**USED, "violation:padded_row_wrote_owned_slot": 3})
    found, _ = judge_arm(history)
    assert found.violations == {"padded_row_wrote_owned_slot": 3}
    assert found.verdict == "corrupt"
    assert "padded_row_wrote_owned_slot" in found.reason
    assert "violation" not in str(found.exposure)


def test_a_fault_is_shown_beside_the_violations_and_makes_no_arm_corrupt() -> None:
    told = {
        "fault:metadata_false_alarm": 2,
        "violation:room_bytes_differ": 1,
        "fault:no_progress": 0,
    }
    found, _ = judge_arm(arm(placed(RIGHT, 0), counters={**USED, **told}))
    assert found.violations == {"room_bytes_differ": 1}
    assert found.faults == {"metadata_false_alarm": 2}
    assert "metadata_false_alarm" not in found.reason
    alone = arm(placed(RIGHT, 0), counters={**USED, "fault:metadata_false_alarm": 2})
    assert judge_arm(alone)[0].violations == {}
    assert verdict(alone) == ("clean", "faults: metadata_false_alarm 2")


def test_a_clean_arm_tells_how_many_tries_failed_before_its_replies_came() -> None:
    served = [placed(RIGHT, 0, tries=4), placed(RIGHT, 1)]
    assert verdict(arm(*served)) == ("clean", "3 tries failed and were asked again")
    both = arm(*served, counters={**USED, "fault:metadata_false_alarm": 3})
    assert judge_arm(both)[0].reason == (
        "3 tries failed and were asked again; faults: metadata_false_alarm 3"
    )
    missing = placed(said(""), 2, status="transport_error", raw_text=None, tries=2, error="no")
    assert verdict(arm(placed(RIGHT, 0), missing)) == (
        "inconclusive",
        "1 of 2 replies unfinished (no); 1 try failed and was asked again",
    )


def test_a_clean_arm_says_that_nobody_watched_its_rows() -> None:
    history = arm(placed(RIGHT, 0))
    history.settings = history.settings | {"ledger": "off"}
    assert verdict(history) == ("clean", "the ledger was off: judged by replies alone")


def test_replies_that_failed_alike_are_told_with_no_single_room_s_number() -> None:
    lost = [
        placed(said(""), n, status="transport_error", raw_text=None, error=f"room {n} failed")
        for n in (3, 4)
    ]
    assert verdict(arm(placed(RIGHT, 0), *lost))[1] == "2 of 3 replies unfinished (room N failed)"
    late = placed(said(""), 9, status="timeout", raw_text=None, error="no end after 600.0 s")
    assert verdict(arm(placed(RIGHT, 0), *lost, late))[1] == (
        "3 of 4 replies unfinished (2: room N failed; 1: no end after 600.0 s)"
    )


def test_a_fault_that_the_file_does_not_name_is_not_as_expected() -> None:
    history = arm(placed(RIGHT, 0), counters={**USED, "fault:metadata_false_alarm": 2})
    unnamed, _ = judge_arm(history, {"*": {"verdict": "clean"}})
    assert expected_word(unnamed) == "NO: with metadata_false_alarm"
    named, _ = judge_arm(
        history, {"*": {"verdict": "clean", "violations": ["metadata_false_alarm"]}}
    )
    assert expected_word(named) == "yes"
    lacking, _ = judge_arm(arm(placed(RIGHT, 0)), {"*": expectation_of(named)})
    assert expected_word(lacking) == "NO: without metadata_false_alarm"


def expectation_of(found: ArmVerdict) -> dict[str, Any]:
    return {"verdict": found.expected, "violations": found.expected_violations}


def test_a_right_text_parsed_wrongly_is_the_parsers_fault() -> None:
    faulty = replace(RIGHT, tool_calls=(), content=EXPECTED, finish_reason="stop")
    found, findings = judge_arm(arm(placed(faulty, 0), placed(RIGHT, 1)))
    assert found.verdict == "parser_fault"
    assert (found.replies_corrupt, found.outcomes) == (0, {})
    assert {f.kind for f in findings} == {"parser_fault"}


def test_unfinished_turns_make_an_arm_inconclusive_and_are_counted_once() -> None:
    missing = placed(said(""), 1, status="not_sent", raw_text=None)
    cut = placed(said(EXPECTED[:40], "length"), 2)
    found, _ = judge_arm(arm(placed(RIGHT, 0), missing, cut))
    assert (found.verdict, found.unfinished, found.replies_due) == ("inconclusive", 2, 3)


def test_a_reply_that_the_server_aborted_is_unfinished_while_it_is_right() -> None:
    cut = placed(said(EXPECTED[:40], "abort"), 1)
    assert verdict(arm(placed(RIGHT, 0), cut))[0] == "inconclusive"
    untold = placed(replace(said("", "abort"), content=None, raw_text=None), 1)
    found, _ = judge_arm(arm(placed(RIGHT, 0), untold))
    assert (found.verdict, found.unfinished) == ("inconclusive", 1)
    assert verdict(arm(untold)) == ("inconclusive", "no reply finished")
    wrong = placed(said(EXPECTED[:30] + "####", "abort"), 1)
    assert verdict(arm(placed(RIGHT, 0), wrong))[0] == "corrupt"


def test_nothing_finished_is_inconclusive() -> None:
    missing = placed(said(""), 0, status="transport_error", raw_text=None)
    assert verdict(arm(missing)) == ("inconclusive", "no reply finished")


def test_an_engine_that_died_is_the_reason_whatever_it_served_before() -> None:
    history = arm(placed(RIGHT, 0), placed(said(""), 1, status="transport_error", raw_text=None))
    history.events += [(9, "engine_died", {"error": "KeyError:\n7"})]
    assert verdict(history) == ("inconclusive", "the engine died: KeyError: 7")


@pytest.mark.parametrize("toggle", EXERCISE)
def test_a_toggle_that_is_on_and_never_exercised_is_inconclusive(toggle: str) -> None:
    unused = EXERCISE[toggle]
    counters = {**USED, "discarded_tokens": 3, unused: 0}
    found, reason = verdict(arm(placed(RIGHT, 0), counters=counters))
    assert found == "inconclusive"
    assert reason.partition(" (")[0] == f"never exercised: {toggle}"
    off = {**ON, toggle: False}
    assert verdict(arm(placed(RIGHT, 0), counters=counters, settings=off))[0] == "clean"


def test_a_host_tier_that_was_filled_and_never_hit_proves_nothing() -> None:
    filled = {**USED, "pages_backed_up": 900, "host_evicted_pages": 40, "pages_restored": 0}
    found, reason = verdict(arm(placed(RIGHT, 0), counters=filled))
    assert found == "inconclusive"
    assert reason.startswith("never exercised: hicache (")


def test_a_counter_of_an_instrument_is_no_exposure() -> None:
    path = "index_k:load:token_granular:layer_first"
    own = {f"path:{path}": 7, f"path_rows:{path}": 70, "restored_differs:index_k": 0}
    found, _ = judge_arm(arm(placed(RIGHT, 0), counters={**USED, **own}))
    assert not [name for name in found.exposure if ":" in name]
    assert found.verdict == "clean"


def test_a_reply_that_its_client_gave_up_is_not_due() -> None:
    left = placed(said(""), 1, status="aborted", due=False, raw_text=None)
    found, _ = judge_arm(arm(placed(RIGHT, 0), left))
    assert (found.verdict, found.replies_due, found.unfinished) == ("clean", 1, 0)


def test_a_session_that_was_owed_nothing_is_not_among_those_that_stayed_clean() -> None:
    left = [placed(said(""), s, status="aborted", due=False, raw_text=None) for s in range(2, 12)]
    found, _ = judge_arm(arm(placed(WRONG, 0), placed(RIGHT, 1), *left))
    assert (found.sessions, found.sessions_corrupt, found.rate) == (2, 1, 0.5)
    assert found.ci95 == wilson(1, 2)
    other, _ = judge_arm(arm(placed(RIGHT, 0), placed(RIGHT, 1), *left))
    pair = compare(found, other)
    assert (pair.p_value, pair.difference_ci95) == (fisher(1, 2, 0, 2), newcombe(1, 2, 0, 2))


def test_a_failing_detector_makes_an_arm_inconclusive_not_clean(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(reply: Reply, context: object) -> str | None:
        raise KeyError("bug")

    known = DETECTORS.all()
    detector = Detector("broken", 99, Kind.PARSER_FAULT, broken)
    monkeypatch.setattr(DETECTORS, "all", lambda: {**known, "broken": detector})
    found, reason = verdict(arm(placed(RIGHT, 0)))
    assert found == "inconclusive"
    assert "broken" in reason


def test_the_other_sessions_words_are_known_from_the_history_alone() -> None:
    events = [
        (0, "group_planned", {"group": 0, "words": "OURS13579"}),
        (0, "session_planned", {"session": 0, "group": 0, "words": "MINE12345"}),
        (0, "session_planned", {"session": 1, "group": 0, "words": "THEIRS6789"}),
    ]
    foreign = said(call(table="THEIRS6789"))
    history = arm(placed(foreign, 0), placed(RIGHT, 1))
    history.events += events
    found, findings = judge_arm(history)
    assert found.outcomes == {"foreign_secret": 1}
    assert "session 1" in findings[0].detail


def test_replies_that_failed_in_many_ways_name_the_three_most_frequent() -> None:
    said = ["HTTP 500: a", *["refused: b"] * 4, *["reset: c"] * 3, *["stalled: d"] * 2]
    replies = [
        placed(WRONG, n, status="transport_error", raw_text=None, error=error)
        for n, error in enumerate(said)
    ]
    _, reason = verdict(arm(placed(RIGHT, 99), *replies))
    assert reason.startswith(
        "10 of 11 replies unfinished (4: refused: b; 3: reset: c; 2: stalled: d; 1: other reasons)"
    )


def test_a_clean_arm_says_that_its_load_generator_was_late() -> None:
    late = (9, "generator", {"warning": "the load generator is the bottleneck: ..."})
    history = arm(placed(RIGHT, 0))
    history.events = [*history.events, late]
    assert verdict(history) == ("clean", "the load generator is the bottleneck: ...")
