"""The documented options of the servers that a stand-in stands in for, and the words each takes.

vLLM 0.32.0: `vllm/engine/arg_utils.py`, and `toy_proxy_server.py` of its NIXL tests; SGLang 0.5.23:
`srt/arg_groups/fields`; sglang-router 0.3.2: `router_args.py`.
"""

from __future__ import annotations

VLLM = {
    **dict.fromkeys(("--enable-prefix-caching", "--no-enable-prefix-caching"), 0),
    **dict.fromkeys(("--enable-chunked-prefill", "--no-enable-chunked-prefill"), 0),
    **dict.fromkeys(("--enforce-eager", "--async-scheduling", "--no-async-scheduling"), 0),
    **dict.fromkeys(("--host", "--port", "--max-num-seqs", "--max-num-batched-tokens"), 1),
    **dict.fromkeys(("--max-model-len", "--max-cudagraph-capture-size", "--kv-cache-dtype"), 1),
    **dict.fromkeys(("--dtype", "--block-size", "--gpu-memory-utilization"), 1),
    **dict.fromkeys(("--kv-cache-memory-bytes", "--num-gpu-blocks-override"), 1),
    **dict.fromkeys(("--kv-offloading-size", "--cpu-offload-gb", "--speculative-config"), 1),
    **dict.fromkeys(("--attention-backend", "--scheduling-policy", "--stream-interval"), 1),
    **dict.fromkeys(("--tensor-parallel-size", "--kv-transfer-config", "--tool-call-parser"), 1),
    "--enable-auto-tool-choice": 0,
}
TOY_PROXY = {
    **dict.fromkeys(("--host", "--port", "--prefiller-hosts", "--prefiller-ports"), 1),
    **dict.fromkeys(("--decoder-hosts", "--decoder-ports"), 1),
}
SGLANG = {
    **dict.fromkeys(("--enable-metrics", "--enable-cache-report", "--disable-radix-cache"), 0),
    **dict.fromkeys(("--enable-hierarchical-cache", "--enable-hisparse"), 0),
    **dict.fromkeys(("--disable-cuda-graph", "--disable-cuda-graph-padding"), 0),
    **dict.fromkeys(("--disable-overlap-schedule", "--enable-mixed-chunk"), 0),
    **dict.fromkeys(("--enable-deterministic-inference",), 0),
    **dict.fromkeys(("--disaggregation-enable-kv-checksum",), 0),
    **dict.fromkeys(("--disaggregation-decode-enable-radix-cache",), 0),
    **dict.fromkeys(("--model-path", "--host", "--port", "--base-gpu-id"), 1),
    **dict.fromkeys(("--hicache-ratio", "--hicache-size", "--hicache-mem-layout"), 1),
    **dict.fromkeys(("--hicache-io-backend", "--hicache-write-policy"), 1),
    **dict.fromkeys(("--cuda-graph-max-bs-decode", "--page-size", "--kv-cache-dtype"), 1),
    **dict.fromkeys(("--chunked-prefill-size", "--attention-backend", "--tp-size"), 1),
    **dict.fromkeys(("--max-running-requests", "--mem-fraction-static"), 1),
    **dict.fromkeys(("--max-total-tokens", "--schedule-policy", "--stream-interval"), 1),
    **dict.fromkeys(("--speculative-algorithm", "--kv-canary"), 1),
    **dict.fromkeys(("--disaggregation-mode", "--disaggregation-bootstrap-port"), 1),
    **dict.fromkeys(("--disaggregation-transfer-backend", "--tool-call-parser"), 1),
}
ROUTER = {
    **dict.fromkeys(("--pd-disaggregation", "--mini-lb"), 0),
    **dict.fromkeys(("--decode", "--host", "--port", "--prometheus-port"), 1),
    "--prefill": 2,
}
# how the tests make a stand-in sick
PLAIN = {
    **dict.fromkeys(("--deaf", "--never", "--family"), 0),
    **dict.fromkeys(("--port", "--probes", "--die", "--needs", "--size"), 1),
}
PROGRAMS = {
    "vllm": VLLM,
    "toy_proxy_server.py": TOY_PROXY,
    "sglang.launch_server": SGLANG,
    "sglang_router.launch_router": ROUTER,
    "plain": PLAIN,
}
WORDS = {"vllm": 2}  # `serve` and the model


def parsed(argv: list[str]) -> tuple[str, dict[str, list[str]]]:
    """The program and its options; raises `ValueError` for what it does not document."""
    words = argv[1:] if argv[0] == "-m" else argv
    program, rest = words[0], words[1:]
    flags, found = PROGRAMS[program], {}
    del rest[: WORDS.get(program, 0)]
    while rest:
        flag = rest.pop(0)
        if flag not in flags:
            raise ValueError(f"{program}: unrecognized arguments: {flag}")
        if flag in found:
            raise ValueError(f"{program}: {flag} is given twice")
        found[flag] = [rest.pop(0) for _ in range(flags[flag])]
        if any(word.startswith("--") for word in found[flag]):
            raise ValueError(f"{program}: {flag} lacks its value")
    return program, found
