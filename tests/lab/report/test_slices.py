"""Replies by what they met: every reply in one bucket, and buckets that all arms share."""

from __future__ import annotations

from dataclasses import replace

from lab.exposure import FOREIGN
from lab.records import ArmHistory
from lab.report.slices import DIMENSIONS, Slice, slices
from tests.lab.samples import findings, history


def arm(name: str, **lengths: int) -> ArmHistory:
    """As many replies of each length as are asked for (``t20=12``)."""
    made = history(name, sessions=sum(lengths.values()), turns=1)
    tokens = [int(key[1:]) for key, n in lengths.items() for _ in range(n)]
    made.replies = [
        replace(it, completion_tokens=n) for it, n in zip(made.replies, tokens, strict=True)
    ]
    return made


def of(found: list[Slice], what: str, name: str = "one") -> dict[str, tuple[int, int]]:
    """Buckets of an arm in their order, as corrupt of n."""
    return {it.bucket: (it.corrupt, it.n) for it in found if (it.what, it.arm) == (what, name)}


def test_every_reply_that_came_is_in_one_bucket_of_each_dimension() -> None:
    made = history("one", corrupt=10)
    made.replies[3] = replace(made.replies[3], status="timeout")
    found = slices([made], {"one": findings(made)})
    for what in DIMENSIONS:
        assert sum(n for _, n in of(found, what).values()) == 239
        assert sum(hit for hit, _ in of(found, what).values()) == 10


def test_lengths_are_buckets_of_like_size_that_all_arms_share() -> None:
    found = slices([arm("one", t20=12, t90=12), arm("two", t50=24)], {})
    assert of(found, "output length") == {"20–49": (0, 12), "90": (0, 12)}
    assert of(found, "output length", "two") == {"50–89": (0, 24)}


def test_replies_of_one_length_are_one_bucket() -> None:
    assert of(slices([arm("one", t30=40)], {}), "output length") == {"30": (0, 40)}


def test_a_batch_s_size_is_how_many_were_being_decoded_when_the_first_token_came() -> None:
    made = history("one", sessions=5, turns=1)
    spans = [(0.0, 9.0), (1.0, 2.0), (3.0, 8.0), (4.0, 8.0), (9.5, 9.9)]  # beside 0, 1, 1, 2, 0
    made.replies = [
        replace(it, first_token_s=first, done_s=done)
        for it, (first, done) in zip(made.replies, spans, strict=True)
    ]
    found = of(slices([made], {}), "batch size at the first token")
    assert found == {"0": (0, 2), "1": (0, 2), "2–3": (0, 1)}


def test_a_prefix_that_came_back_at_admission_lay_on_the_host() -> None:
    made = history("one", sessions=3, turns=1)
    made.replies = [
        replace(it, request_id=f"chatcmpl-{number}", cached_tokens=cached)
        for it, number, cached in zip(made.replies, (1, 2, 3), (256, 256, 0), strict=True)
    ]
    made.events = [
        (1, "admit", {"request": 1}),
        (2, "restore", {"node": 5, "pages": 1}),
        (2, "admit", {"request": 2}),
        (3, "admit", {"request": 3}),
    ]
    assert of(slices([made], {}), "cache tier") == {
        "nothing cached": (0, 1),
        "device": (0, 1),
        "host": (0, 1),
    }


def test_a_server_s_own_word_on_the_tier_is_taken_and_its_silence_is_told() -> None:
    made = history("one", sessions=2, turns=1)
    first, second = (replace(it, cached_tokens=256) for it in made.replies)
    made.replies = [replace(first, cached_tiers={"device": 192, "storage": 64}), second]
    made.events = [(0, FOREIGN, {"url": "http://x", "boot": 1, "model": "m"})]
    found = of(slices([made], {}), "cache tier")
    assert found == {"storage": (0, 1), "cached, tier not told": (0, 1)}


def test_an_arm_without_a_reply_has_no_slice() -> None:
    assert slices([replace(history("one"), replies=[])], {}) == []
