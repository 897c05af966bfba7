"""From a profile to its commands: what is shown is what is run."""

from __future__ import annotations

import sys

import pytest

from lab.errors import UserError
from lab.profiles import boot_key, commands, example_ports, load_profile, model_name
from lab.profiles.loader import parse_profile

MODEL = {"model_path": "Qwen/Qwen2-0.5B"}
WIRED = '{"kv_connector": "NixlConnector", "kv_role": "kv_both", "kv_buffer_device": "cuda"}'
TOOLS = "--enable-auto-tool-choice --tool-call-parser hermes"


def lines(name: str, settings: dict[str, object], **params: str) -> list[str]:
    """The commands of a shipped profile on example ports."""
    profile = load_profile(name)
    return [one.line for one in commands(profile, settings, params, example_ports(profile))]


def test_the_bundled_engine_is_served_with_what_is_not_at_its_default() -> None:
    profile, settings = (
        load_profile("kvlab_serve"),
        {"index_k": "bf16", "graph": True, "topk": "v1"},
    )
    (command,) = commands(
        profile,
        {**settings, "hicache": True, "concurrency": 60},
        {"seed": "7"},
        example_ports(profile),
        ("padded_scatter_stale_slots", "publish_before_write"),
    )
    assert command.argv == (
        *(sys.executable, "-m", "lab.app", "serve", "--port", "30000", "--seed", "7"),
        *("--set", "engine.concurrency=64"),
        *("--defect", "padded_scatter_stale_slots", "--defect", "publish_before_write"),
        *("--set", "engine.hicache=true", "--set", "engine.index_k=bf16"),
    )


def test_vllm_is_served_with_its_own_flags() -> None:
    settings = {"prefix_caching": False, "enforce_eager": True, "max_num_seqs": 8}
    extra = "--reasoning-parser qwen3"
    assert lines("vllm", settings, extra_args=extra, **MODEL) == [
        "VLLM_SERVER_DEV_MODE=1 VLLM_HTTP_TIMEOUT_KEEP_ALIVE=60 "
        "vllm serve Qwen/Qwen2-0.5B --host 127.0.0.1 --port 30000 "
        "--enable-auto-tool-choice --tool-call-parser hermes "
        "--no-enable-prefix-caching --enforce-eager --max-num-seqs 8 --reasoning-parser qwen3"
    ]


def test_sglang_is_told_nothing_of_what_it_does_anyway() -> None:
    assert lines("sglang", {"radix": True, "graph": True, "overlap": True}, **MODEL) == [
        "python -m sglang.launch_server --model-path Qwen/Qwen2-0.5B --host 127.0.0.1 "
        "--port 30000 --enable-metrics --enable-cache-report --tool-call-parser auto"
    ]


def test_sglang_is_served_with_its_own_flags_and_variables() -> None:
    settings = {
        "hicache": True,
        "hicache_layout": "page_first",
        "graph": False,
        "overlap": False,
        "topk_v2": False,
    }
    assert lines("sglang", settings, **MODEL) == [
        "SGLANG_OPT_USE_TOPK_V2=false python -m sglang.launch_server "
        "--model-path Qwen/Qwen2-0.5B --host 127.0.0.1 --port 30000 --enable-metrics "
        "--enable-cache-report --tool-call-parser auto "
        "--enable-hierarchical-cache --hicache-mem-layout page_first "
        "--disable-cuda-graph --disable-overlap-schedule"
    ]


def test_a_pair_of_vllm_stands_behind_its_proxy() -> None:
    settings = {"decode_num_blocks": 40, "kv_cache_dtype": "fp8"}
    assert lines("vllm_pd", settings, proxy="toy_proxy_server.py", **MODEL) == [
        "CUDA_VISIBLE_DEVICES=0 VLLM_NIXL_SIDE_CHANNEL_PORT=30001 VLLM_SERVER_DEV_MODE=1 "
        "vllm serve Qwen/Qwen2-0.5B --host 127.0.0.1 --port 30000 "
        f"--kv-transfer-config '{WIRED}' {TOOLS} --enable-prefix-caching --kv-cache-dtype fp8",
        "CUDA_VISIBLE_DEVICES=1 VLLM_NIXL_SIDE_CHANNEL_PORT=30003 VLLM_SERVER_DEV_MODE=1 "
        "vllm serve Qwen/Qwen2-0.5B --host 127.0.0.1 --port 30002 "
        f"--kv-transfer-config '{WIRED}' {TOOLS} --enable-prefix-caching --kv-cache-dtype fp8 "
        "--num-gpu-blocks-override 40",
        "python toy_proxy_server.py --host 127.0.0.1 --port 30004 "
        "--prefiller-hosts 127.0.0.1 --prefiller-ports 30000 "
        "--decoder-hosts 127.0.0.1 --decoder-ports 30002",
    ]


def test_a_pair_of_sglang_stands_behind_its_router() -> None:
    settings = {"wire": "nixl", "queue_size": 1, "waiting_timeout": 30, "hicache": True}
    variables = "SGLANG_DISAGGREGATION_QUEUE_SIZE=1 SGLANG_DISAGGREGATION_WAITING_TIMEOUT=30"
    served = "python -m sglang.launch_server --model-path Qwen/Qwen2-0.5B --host 127.0.0.1"
    assert lines("sglang_pd", settings, router_args="--mini-lb", **MODEL) == [
        f"{variables} {served} --port 30000 --disaggregation-mode prefill "
        "--disaggregation-bootstrap-port 30001 --base-gpu-id 0 --enable-metrics "
        "--enable-cache-report --tool-call-parser auto --disaggregation-transfer-backend nixl "
        "--enable-hierarchical-cache",
        f"{variables} {served} --port 30002 --disaggregation-mode decode --base-gpu-id 1 "
        "--enable-metrics --enable-cache-report --tool-call-parser auto "
        "--disaggregation-transfer-backend nixl",
        "python -m sglang_router.launch_router --pd-disaggregation "
        "--prefill http://127.0.0.1:30000 30001 --decode http://127.0.0.1:30002 "
        "--host 127.0.0.1 --port 30003 --prometheus-port 30004 --mini-lb",
    ]


def test_arms_share_a_boot_where_their_commands_are_the_same() -> None:
    vllm = load_profile("vllm")
    key = boot_key(vllm, {"prefix_caching": True, "concurrency": 1}, MODEL)
    assert key == boot_key(vllm, {"concurrency": 60}, MODEL)
    assert key != boot_key(vllm, {"prefix_caching": False}, MODEL)


def test_a_parameter_that_must_be_given_is_asked_for() -> None:
    with pytest.raises(UserError, match="profile vllm: parameter 'model_path' must be given"):
        lines("vllm", {})


def test_a_server_that_takes_no_build_says_so() -> None:
    sglang = load_profile("sglang")
    with pytest.raises(UserError, match="profile sglang: takes no build"):
        commands(sglang, {}, MODEL, example_ports(sglang), ("publish_before_write",))


def test_a_model_is_named_by_its_parameter() -> None:
    assert model_name(load_profile("sglang_pd"), MODEL) == "Qwen/Qwen2-0.5B"
    assert model_name(load_profile("vllm"), MODEL) == ""


def test_a_parameter_is_one_word_unless_it_is_read_as_a_shell_would() -> None:
    text = (
        "name: p\nabout: x\nstatus: 'run: here'\nparams: {a: '', b: ''}\nendpoint: n\n"
        "nodes: [{name: n, command: 'serve {a} {b*} {port}', cwd: '{a}'}]\n"
    )
    profile = parse_profile(text, "p.yaml")
    (found,) = commands(profile, {}, {"a": "my model", "b": "--x 'y z'"}, {"n.port": 7})
    assert found.argv == ("serve", "my model", "--x", "y z", "7")
    assert found.line == "cd 'my model' && serve 'my model' --x 'y z' 7"
