"""The history and its digest."""

from engine.events import EventLog


def _log(times: list[int]) -> EventLog:
    return EventLog(lambda: times[0])


def test_equal_histories_have_equal_digests() -> None:
    a, b = _log([5]), _log([5])
    for log in (a, b):
        log.emit("decode", rows=3, size=4)
        log.emit("finish", request=1, reason="stop")
    assert a.digest() == b.digest()
    assert a.digest().startswith("sha256:")


def test_the_digest_sees_time_kind_fields_and_order() -> None:
    base = _log([5])
    base.emit("a", x=1)
    digests = {base.digest()}
    for times, kind, value in (([6], "a", 1), ([5], "b", 1), ([5], "a", 2)):
        log = _log(times)
        log.emit(kind, x=value)
        digests.add(log.digest())
    assert len(digests) == 4


def test_a_violation_counts_its_occurrences_and_keeps_one_event_of_evidence() -> None:
    log = _log([7])
    log.violation("padded_row_wrote_owned_slot", n=3, slot=70)
    assert log.counters == {"violation:padded_row_wrote_owned_slot": 3}
    assert log.events[0].fields == {"name": "padded_row_wrote_owned_slot", "n": 3, "slot": 70}


def test_a_remark_is_kept_and_leaves_the_digest_as_it_was() -> None:
    log = _log([5, 6])
    log.emit("a", x=1)
    before = log.digest()
    log.remark("server_info", info="{}")
    assert (log.digest(), log.events[-1].kind) == (before, "server_info")


def test_two_sides_write_one_history_and_say_who_they_are() -> None:
    log = _log([1, 2, 3])
    prefill, other = log.side("prefill"), log.side("decode", rank=1)
    prefill.emit("room", room=7)
    other.emit("room", room=7)
    other.remark("note")
    told = [event.fields for event in log.events]
    assert told[0] == {"room": 7, "side": "prefill"}
    assert told[1] == {"room": 7, "side": "decode", "rank": 1}
    assert other.digest() == prefill.digest() == log.digest()


def test_ranks_that_do_the_same_work_count_it_once_and_what_is_broken_always() -> None:
    log = _log([1, 2, 3, 4])
    for rank in (0, 1):
        side = log.side("decode", rank)
        side.count("decode_steps")
        side.violation("room_bytes_differ")
        side.fault("no_progress")
    assert log.counters == {
        "decode_steps": 1,
        "violation:room_bytes_differ": 2,
        "fault:no_progress": 2,
    }


def test_a_listener_hears_each_event_once_it_is_part_of_the_history_and_no_remark() -> None:
    log = _log([1, 2, 3])
    heard: list[tuple[str, str, int]] = []
    log.listener = lambda event: heard.append((event.kind, log.digest(), len(log.events)))
    log.emit("arrive")
    first = log.digest()
    log.remark("span")
    log.side("decode").violation("read_before_load")
    assert heard == [("arrive", first, 1), ("violation", log.digest(), 3)]


def test_a_high_water_mark_only_rises() -> None:
    log = _log([1])
    for n in (3, 7, 5):
        log.side("decode", rank=1).reach("largest:logits_offset", n)
    assert log.counters == {"largest:logits_offset": 7}
