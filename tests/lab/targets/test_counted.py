"""What a server counted during an arm is the arm's exposure, and evidence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lab.exposure import unexercised
from lab.judging import judge_arm
from lab.profiles import load_profile
from lab.records import ArmHistory
from lab.targets.counted import moved
from lab.targets.remote import run_remote
from tests.lab.driver.sick import CARD, DONE, Caller, event, says, sick
from tests.lab.targets.remotes import server, stranger_task

METRICS = """# HELP vllm:prefix_cache_hits_total Tokens.
# TYPE vllm:prefix_cache_hits_total counter
vllm:prefix_cache_hits_total{{engine="0",model_name="a {{b}}"}} {hits}
vllm:prefix_cache_hits_total{{engine="1",model_name="a {{b}}"}} 1.0
vllm:num_preemptions_total{{engine="0"}} NaN
vllm:request_success_total{{finished_reason="abort"}} 2
vllm:request_success_total{{finished_reason="stop"}} 9
vllm:corrupted_requests_total {corrupted}
"""


def answering(documents: dict[str, Any], usage: dict[str, Any], **more: Any):
    """Each reply says its usage; ``/metrics`` are others from the first reply on."""

    async def tell(caller: Caller) -> None:
        caller.server.documents |= documents
        await caller.begin()
        end = event(choices=[], usage=usage, **more)
        await caller.part(says(content="hello") + says("stop") + end + DONE)
        await caller.end()

    return tell


def driven(tell: Any, owner: str, first: str = "", **given: Any) -> ArmHistory:
    documents = {"/v1/models": {"data": [CARD | {"owned_by": owner}]}, "/metrics": first.encode()}
    with sick(tell, documents) as it:
        history = run_remote(stranger_task(turns=1), server(it.url, **given))
        history.settings["asked"] = [chat.asked for chat in it.heard if chat.asked]
    return history


def test_metrics_of_a_known_maker_are_counted_from_the_arm_s_beginning_on() -> None:
    after = {"/metrics": METRICS.format(hits="1.2e3", corrupted=0).encode()}
    first = METRICS.format(hits=200, corrupted=0)
    history = driven(answering(after, {}), "vllm", first)
    verdict, _ = judge_arm(history)
    assert verdict.exposure == {
        "prefix_hits": 1000,
        "retractions": 0,
        "aborts_in_flight": 0,
    }
    assert verdict.verdict == "clean"


def test_a_server_that_counts_corrupted_requests_is_believed() -> None:
    after = {"/metrics": METRICS.format(hits=1, corrupted=3).encode()}
    history = driven(answering(after, {}), "vllm", METRICS.format(hits=1, corrupted=0))
    verdict, _ = judge_arm(history)
    told = "no reply shows it, the server's own count does: nan_in_logits"
    assert (verdict.verdict, verdict.reason) == ("corrupt", told)


def test_a_stranger_s_exposure_is_what_its_usage_says() -> None:
    usage = {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}}
    verdict, _ = judge_arm(driven(answering({}, usage), "somebody"))
    assert verdict.exposure == {"prefix_hits": 2, "cached_tokens": 8}
    assert judge_arm(driven(answering({}, {}), "somebody"))[0].exposure == {}


def test_sglang_is_asked_for_the_tiers_and_tells_them() -> None:
    tiers = {"cached_tokens_details": {"device": 3, "host": 1, "storage_backend": "file"}}
    history = driven(answering({}, {"prompt_tokens": 9}, sglext=tiers), "sglang")
    assert {r.cached_tiers["host"] for r in history.replies} == {1}
    assert history.counters["cached_tokens_device"] == 6
    assert all(chat["return_cached_tokens_details"] for chat in history.settings["asked"])


def test_strangers_are_asked_for_nothing_that_they_may_refuse() -> None:
    (chat, _) = driven(answering({}, {}), "somebody").settings["asked"]
    assert sorted(chat) == [
        *("max_tokens", "messages", "model", "stream", "stream_options", "temperature", "tools"),
    ]


SGLANG = """
sglang:evicted_tokens_total{{cache_type="radix",tp_rank="0",pp_rank="0",dp_rank="0"}} {tokens}
sglang:evicted_tokens_total{{cache_type="radix",tp_rank="1",pp_rank="0",dp_rank="0"}} {tokens}
sglang:load_back_tokens_total{{tp_rank="0",pp_rank="0",dp_rank="0",pool="kv"}} 64
sglang:load_back_tokens_total{{tp_rank="0",pp_rank="0",dp_rank="0",pool="swa"}} 64
"""


def test_tokens_are_named_so_and_counted_once_for_all_ranks() -> None:
    after = {"/metrics": SGLANG.format(tokens=384).encode()}
    counters = driven(answering(after, {}), "sglang", SGLANG.format(tokens=128)).counters
    assert (counters["evicted_tokens"], counters["restored_tokens"]) == (256, 0)
    assert "evicted_pages" not in counters
    assert unexercised({"hicache": True}, counters, foreign=True) == ["hicache"]


def test_what_a_profile_s_logs_say_is_counted_too(tmp_path: Path) -> None:
    profile, log = load_profile("sglang"), tmp_path / "log"
    log.write_text("kv_canary violation: old\n")

    async def tell(caller: Caller) -> None:
        with log.open("a") as told:
            told.write("kv_canary violation: new\n")
        await answering({}, {})(caller)

    with sick(tell) as it:
        theirs = server(it.url, logs={"server": log}, urls={"server": it.url})
        history = run_remote(stranger_task(turns=1), theirs, profile)
    assert history.counters["violation:kv_canary"] == 2
    assert judge_arm(history)[0].violations == {"kv_canary": 2}


def test_a_server_that_began_anew_counts_from_zero() -> None:
    assert moved({"a": 9, "b": 5, "gone": 1}, {"a": 12, "b": 2, "new": 4.0}) == {
        "a": 3,
        "b": 2,
        "new": 4,
    }


@pytest.mark.parametrize(("counters", "never"), [({}, []), ({"prefix_hits": 0}, ["radix"])])
def test_a_foreign_toggle_is_unexercised_only_where_the_server_counts(
    counters: dict[str, int], never: list[str]
) -> None:
    assert unexercised({"radix": True}, counters, foreign=True) == never
    assert unexercised({"abort_rate": 0.5}, {}, foreign=True) == ["abort_rate"]


def test_counters_of_a_json_document_are_read_by_their_key() -> None:
    profile = load_profile("sglang")
    counting = profile.exposure.model_copy(
        update={"form": "json", "path": "/stats", "counters": {"a.0.hits": "prefix_hits"}}
    )
    mine = profile.model_copy(update={"exposure": counting})

    async def tell(caller: Caller) -> None:
        await answering({"/stats": json.dumps({"a": [{"hits": 7}]}).encode()}, {})(caller)

    with sick(tell, {"/v1/models": {"data": [CARD]}, "/stats": b'{"a": [{"hits": 3}]}'}) as it:
        history = run_remote(stranger_task(turns=1), server(it.url), mine)
    assert history.counters == {"prefix_hits": 4}


@pytest.mark.parametrize("told", [b"no JSON", b'{"counters": 3}', b'{"counters": {"a": "b"}}'])
def test_a_bundled_server_whose_counters_cannot_be_read_is_driven_all_the_same(told: bytes) -> None:
    documents = {"/v1/models": {"data": [CARD | {"owned_by": "kvlab"}]}, "/server_info": told}
    with sick(answering({}, {}), documents) as it:
        history = run_remote(stranger_task(turns=1), server(it.url))
    assert {reply.status for reply in history.replies} == {"ok"}
