"""Load generators: how each is started against a URL, and where it says what it measured.

guidellm (Apache-2.0) and aiperf (Apache-2.0) are not installed with kvlab: each runs in an
environment of its own, ``python -m venv peer; peer/bin/pip install guidellm torch==2.13.0``, then
``kvlab bench load --beside guidellm --python peer/bin/python``. Measured with guidellm 0.8.1 and
aiperf 0.13.0, whose options and reports these are.

One rule: each runs as its documentation says, with its defaults; all get the same prompts, the same
number at once and the same number of requests.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.bench_load.generator import prompt
from lab.bench_load.mock import MODEL

OURS = "kvlab"


@dataclass(frozen=True)
class Asked:
    """One run: where, how much at once, how much in all, arrivals a second (0: as they may)."""

    url: str
    sessions: int
    requests: int
    rate: float
    folder: Path


@dataclass(frozen=True)
class Said:
    """What a generator says that it measured: milliseconds; its lag in seconds, where it knows."""

    replies: int
    ttft_ms: float | None
    itl_ms: float | None
    lag: dict[str, float] | None = None


@dataclass(frozen=True)
class Generator:
    """One load generator: its command, and how its report is read."""

    name: str
    argv: Callable[[str, Asked], tuple[str, ...]]  # of the Python that runs it
    read: Callable[[Path], Said]


def _kvlab(python: str, asked: Asked) -> tuple[str, ...]:
    numbers = str(asked.sessions), str(asked.requests), str(asked.rate)
    out = str(asked.folder / "said.json")
    return python, "-m", "lab.bench_load.generator", asked.url, MODEL, *numbers, out


def _kvlab_said(folder: Path) -> Said:
    said = json.loads((folder / "said.json").read_text())
    return Said(said["replies"], said["ttft_ms"], said["itl_ms"], said["lag"])


def _guidellm(python: str, asked: Asked) -> tuple[str, ...]:
    data, out = asked.folder / "prompts.jsonl", asked.folder / "said.json"
    _prompts(data, asked.requests, "prompt")
    backend = f"kind=openai_http,target={asked.url},model={MODEL}"
    return (
        *(_beside(python, "guidellm"), "run"),
        *("--backend", f"{backend},request_format=/v1/chat/completions"),
        *("--profile", f"kind=concurrent,streams={asked.sessions}"),
        *("--constraint", f"kind=max_requests,count={asked.requests}"),
        *("--data", f"kind=json_file,path={data}"),
        *("--output", f"kind=json,path={out}", "--disable-console"),
    )


def _guidellm_said(folder: Path) -> Said:
    (run,) = json.loads((folder / "said.json").read_text())["benchmarks"]
    metrics: dict[str, Any] = run["metrics"]
    firsts = metrics["time_to_first_token_ms"]["successful"]
    gaps = metrics["inter_token_latency_ms"]["successful"]
    return Said(firsts["count"], firsts["mean"], gaps["mean"])


def _aiperf(python: str, asked: Asked) -> tuple[str, ...]:
    data = asked.folder / "prompts.jsonl"
    _prompts(data, asked.requests, "text")
    return (
        *(_beside(python, "aiperf"), "profile", "--model", MODEL, "--url", asked.url),
        *("--endpoint-type", "chat", "--streaming"),
        *("--input-file", str(data), "--custom-dataset-type", "single_turn"),
        *("--concurrency", str(asked.sessions), "--request-count", str(asked.requests)),
        *("--use-server-token-count", "--tokenizer", str(_tokenizer(asked.folder))),
        *("--artifact-dir", str(asked.folder), "--ui", "none"),
    )


def _aiperf_said(folder: Path) -> Said:
    said = json.loads((folder / "profile_export_aiperf.json").read_text())
    replies = int(said["request_count"]["avg"])
    return Said(replies, said["time_to_first_token"]["avg"], said["inter_token_latency"]["avg"])


def _prompts(path: Path, requests: int, key: str) -> None:
    lines = [json.dumps({key: prompt(number)}) for number in range(requests)]
    path.write_text("\n".join(lines) + "\n")


def _tokenizer(folder: Path) -> Path:
    """A tokenizer of two words: aiperf wants one, and its own would be fetched from the network."""
    words = {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 1}, "unk_token": "[UNK]"}
    unused = dict.fromkeys(("truncation", "padding", "normalizer", "post_processor", "decoder"))
    split = {"added_tokens": [], "pre_tokenizer": {"type": "Whitespace"}, "model": words}
    made = {"version": "1.0", **unused, **split}
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]"}
    (folder / "tokenizer.json").write_text(json.dumps(made))
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


def _beside(python: str, program: str) -> str:
    """The program that lies beside an environment's Python."""
    return str(Path(python).parent / program)


GENERATORS = {
    OURS: Generator(OURS, _kvlab, _kvlab_said),
    "guidellm": Generator("guidellm", _guidellm, _guidellm_said),
    "aiperf": Generator("aiperf", _aiperf, _aiperf_said),
}
OWN_PYTHON = sys.executable
