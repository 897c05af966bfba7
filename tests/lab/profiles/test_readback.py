"""What a server says it runs with, in our words."""

from __future__ import annotations

from typing import Any

import pytest

from lab.profiles import Readback, load_profile, same


def test_a_key_is_found_through_mappings_and_lists() -> None:
    document = {"states": [{"pool": {"size": 7}}]}
    assert Readback(json="/info", key="states.0.pool.size").of_json(document) == 7


@pytest.mark.parametrize("document", [None, [], {"states": []}, {"states": {"0": 1}}, "text"])
def test_a_key_that_is_not_there_is_none(document: Any) -> None:
    assert Readback(json="/info", key="states.0.pool.size").of_json(document) is None


def test_an_inverted_flag_is_read_as_our_toggle() -> None:
    radix = load_profile("sglang").readback["radix"]
    assert radix.of_json({"disable_radix_cache": True}) is False
    assert radix.of_json({"disable_radix_cache": False}) is True


def test_what_is_switched_off_as_a_whole_is_read_as_off() -> None:
    speculative = load_profile("vllm").readback["speculative"]
    assert speculative.of_json({"vllm_config": {"speculative_config": None}}) == "none"
    ngram = {"vllm_config": {"speculative_config": {"method": "ngram"}}}
    assert speculative.of_json(ngram) == "ngram"
    assert speculative.of_json({"vllm_config": {}}) is None


def test_the_last_line_of_a_log_counts() -> None:
    found = load_profile("vllm").readback["prefix_caching"]
    log = (
        "INFO non-default args: {'model': 'm', 'enable_prefix_caching': False}\n"
        "INFO Initializing a V1 LLM engine (v0.32.0) with config: model='m', "
        "dtype=torch.float32, kv_cache_dtype=auto, enable_prefix_caching=False, "
        "enable_chunked_prefill=True, pooler_config=None\n"
    )
    assert found.of_log(log) is False
    readback = load_profile("vllm").readback
    assert readback["chunked_prefill"].of_log(log) is True
    assert readback["dtype"].of_log(log) == "float32"
    assert readback["kv_cache_dtype"].of_log(log) == "auto"
    assert found.of_log("nothing of the kind") is None


def test_every_toggle_of_the_bundled_engine_is_read_under_its_own_name() -> None:
    from engine.config import EngineConfig

    profile, told = load_profile("kvlab_serve"), EngineConfig().as_dict()
    read = {key: found.of_json(told) for key, found in profile.readback.items()}
    assert read == {key: toggle.default for key, toggle in profile.toggles.items()}


@pytest.mark.parametrize(
    ("asked", "effective", "equal"),
    [
        (True, True, True),
        (True, 1, False),
        (16, 16.0, True),
        (0.9, 0.9000000000001, True),
        (16, 32, False),
        ("fp8", "fp8_e4m3", False),
        ("auto", "bfloat16", True),
        (16, "16", True),
    ],
)
def test_numbers_are_compared_by_value_and_the_rest_by_text(
    asked: Any, effective: Any, equal: bool
) -> None:
    assert same(asked, effective) is equal


def test_a_log_is_counted_by_its_patterns() -> None:
    exposure = load_profile("sglang").exposure
    log = "x kv_canary violation: launch_tag=1\ny kv_canary violation: launch_tag=2\n"
    log += "[canary] step=100 protected_tokens=0 sweep_passes=0 violations=0\n"
    log += "[canary] step=200 protected_tokens=4096 sweep_passes=1 violations=0\n"
    assert exposure.of_log(log) == {"violation:kv_canary": 2, "kv_canary_reports": 1}


SCHEDULER = {
    "max_total_tokens": 10_000,
    "max_total_num_tokens": 9_984,
    "page_size": 64,
    "dp_size": 1,
    "max_running_requests": 500,
    "internal_states": [{"effective_max_running_requests_per_dp": 48}],
    "speculative_algorithm": "EAGLE",
}


def told(key: str, **changed: Any) -> tuple[Any, bool]:
    """What SGLang has for a toggle of which its flag asked for something else, and whether it is
    what is known to become of it.
    """
    readback = load_profile("sglang").readback[key]
    asked = {"max_total_tokens": 10_000, "max_running_requests": 500, "speculative": "NEXTN"}
    document = SCHEDULER | changed
    effective = readback.of_json(document)
    return effective, readback.alike(asked[key], effective, document)


def test_what_the_scheduler_has_is_read_and_not_what_it_was_asked_for() -> None:
    assert told("max_running_requests") == (48, False)
    assert told("max_total_tokens", max_total_num_tokens=640) == (640, False)


def test_a_pool_is_whole_pages() -> None:
    assert told("max_total_tokens") == (9_984, True)
    assert told("max_total_tokens", max_total_num_tokens=9_936) == (9_936, False)
    assert told("max_total_tokens", page_size=None) == (9_984, False)


def test_what_several_ranks_share_is_not_read_as_the_whole() -> None:
    assert told("max_running_requests", dp_size=2)[0] is None
    assert told("max_total_tokens", dcp_size=2)[0] is None
    blocks = load_profile("vllm").readback["num_blocks"]
    config = {"cache_config": {"num_gpu_blocks": 200, "num_gpu_blocks_override": 100}}
    assert blocks.of_json({"vllm_config": config}) == 200
    config |= {"parallel_config": {"data_parallel_size": 2}}
    assert blocks.of_json({"vllm_config": config}) is None


def test_another_word_for_it_is_no_other_setting() -> None:
    assert told("speculative") == ("EAGLE", True)
    assert told("speculative", speculative_algorithm="NGRAM") == ("NGRAM", False)
    assert told("speculative", speculative_algorithm=None)[0] is None
