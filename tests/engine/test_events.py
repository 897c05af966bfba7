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
