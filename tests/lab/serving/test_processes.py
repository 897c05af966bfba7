"""`kvlab serve` for real: a sick server and its controls, asked from another process."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import httpx
import openai
import pytest

from tests.lab.serving.processes import Served, serving

SMALL = ("--set", "workload.preset=small", "--set", "engine.graph_max_bs=8")
SICK = (*SMALL, "--set", "engine.index_k=bf16", "--defect", "padded_scatter_stale_slots")
INVARIANT = "padded_row_wrote_owned_slot"


@pytest.fixture(scope="module")
def sick() -> Iterator[Served]:
    with serving(*SICK) as served:
        yield served


def test_a_sick_server_corrupts_and_its_metrics_say_of_what(sick: Served) -> None:
    assert sick.what == "model kvlab, build padded_scatter_stale_slots"
    assert any(sick.wrong(sessions=12, concurrency=6) for _ in range(5))  # the first, as a rule
    counted = sick.metrics()
    assert counted["padded_rows"] > 0 and counted[INVARIANT] > 0
    assert (counted["kvlab_up"], counted["kvlab_running"]) == (1, 0)


def test_the_same_build_is_well_without_captured_steps(sick: Served) -> None:
    with serving(*SICK, "--set", "engine.graph=false") as well:
        assert well.wrong(sessions=12, concurrency=6) == []
        counted = well.metrics()
    assert (counted["padded_rows"], counted.get(INVARIANT, 0)) == (0, 0)


def test_what_it_runs_with_is_read_back(sick: Served) -> None:
    info = httpx.get(f"{sick.url}/get_server_info").json()
    assert (info["index_k"], info["graph"], info["graph_max_bs"]) == ("bf16", True, 8)
    assert info["build"] == ["padded_scatter_stale_slots"]
    assert (info["pool_pages"], info["model"]["index_topk"]) == (48, 16)


def test_the_openai_client_is_served(sick: Served) -> None:
    with openai.OpenAI(base_url=f"{sick.url}/v1", api_key="none") as client:
        (model,) = client.models.list().data
        answer = client.chat.completions.create(
            model=model.id, messages=[{"role": "user", "content": "hello"}], max_tokens=3
        )
    assert (model.id, answer.usage.completion_tokens) == ("kvlab", 3)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_stop_lets_a_reply_come_to_its_end(number: int, code: int) -> None:
    asked = {"model": "kvlab", "messages": [{"role": "user", "content": "hello"}], "stream": True}
    with serving(*SMALL) as served:
        path = f"{served.url}/v1/chat/completions"
        with httpx.stream("POST", path, json={**asked, "max_tokens": 40}, timeout=60) as answer:
            lines = answer.iter_lines()
            assert next(lines).startswith("data: ")
            assert served.stopped_by(number) == (code, "kvlab: stopped\n")
            assert [line for line in lines if line][-1] == "data: [DONE]"
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{served.url}/health")
