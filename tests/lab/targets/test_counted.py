"""What a server counted during an arm is the arm's exposure, and evidence."""

from __future__ import annotations

import itertools
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
from tests.lab.driver.sick import CARD, DONE, Caller, Tell, event, says, sick, well
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


def test_a_counter_that_was_not_there_before_rose_from_zero() -> None:
    rose = moved([{"m": {"a": 9}}], [{"m": {"a": 12, "new": 4.0}}])
    assert (rose.counters, rose.warning) == ({"a": 3, "new": 4}, "")


@pytest.mark.parametrize("later", [{"a": 2}, {}])
def test_what_a_server_that_began_anew_counts_is_not_the_arm_s(later: dict[str, float]) -> None:
    rose = moved([{"m": {"a": 5}}], [{"m": later | {"b": 7}}])
    assert rose.counters == {} and "not known: m fell: " in rose.warning


def test_where_one_node_was_not_read_the_other_s_zero_is_no_zero() -> None:
    before = [{"one": {"a": 1, "b": 1}}, {}]
    after = [{"one": {"a": 1, "b": 3}, "other": {"a": 70, "b": 70}}]
    rose = moved(before, after)
    assert rose.counters == {"b": 2}
    assert rose.warning.endswith(": other was not read before the arm")


def late(times: int) -> Tell:
    """Metrics that are not there for so many reads, and tell of what was long before us."""
    left = [503] * times

    async def tell(caller: Caller) -> None:
        status = left.pop() if left else 200
        await caller.whole(f"{status} so", METRICS.format(hits=9, corrupted=3).encode())

    return tell


@pytest.mark.parametrize(("times", "said"), [(1, ""), (2, "not read before"), (9, "")])
def test_what_a_server_counted_before_the_first_read_is_not_the_arm_s(
    times: int, said: str
) -> None:
    documents = {"/v1/models": {"data": [CARD | {"owned_by": "vllm"}]}, "/metrics": late(times)}
    with sick(well, documents) as it:
        history = run_remote(stranger_task(turns=1), server(it.url))
    verdict, _ = judge_arm(history)
    assert (verdict.verdict, verdict.violations) == ("clean", {})
    assert said in verdict.reason and bool(said) == bool(verdict.reason)


def test_of_replicas_behind_one_address_nothing_is_counted() -> None:
    reads = itertools.count()

    async def either(caller: Caller) -> None:
        n = 3 * (next(reads) % 2)
        await caller.whole("200 OK", METRICS.format(hits=n, corrupted=n).encode())

    documents = {"/v1/models": {"data": [CARD | {"owned_by": "vllm"}]}, "/metrics": either}
    with sick(well, documents) as it:
        history = run_remote(stranger_task(turns=1), server(it.url))
        asked = [caller.headers for caller in it.heard if caller.path == "/metrics"]
    verdict, _ = judge_arm(history)
    assert (verdict.verdict, history.counters) == ("clean", {})
    assert "/metrics fell: the server began anew, or several answer" in verdict.reason
    assert {headers["Connection"] for headers in asked} == {"close"}


def test_a_launched_pair_whose_one_node_was_not_read_tells_of_the_other_alone() -> None:
    profile = load_profile("sglang_pd")
    counting = {"sglang:num_transfer_failed_reqs_total": "failed_transfers"}
    exposure = profile.exposure.model_copy(update={"counters": counting, "logs": {}})
    told = b"sglang:num_transfer_failed_reqs_total 70"
    with sick(well, {"/metrics": told}) as prefill, sick(well) as it:
        it.tell = answering({"/metrics": told}, {})
        theirs = server(it.url, urls={"prefill": prefill.url, "decode": it.url, "router": it.url})
        mine = profile.model_copy(update={"exposure": exposure})
        history = run_remote(stranger_task(turns=1), theirs, mine)
    assert history.counters == {}
    said = f"the server's counts are not known: {it.url}/metrics was not read before the arm"
    assert said in judge_arm(history)[0].reason


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
