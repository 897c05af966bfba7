"""`GET /metrics`: the engine's own counters under their own names, as Prometheus reads them."""

from __future__ import annotations

import re
from typing import Any

from engine import clock
from engine.api.metrics import exposition
from engine.config import EngineConfig, ModelConfig
from engine.engine import Engine
from tests.engine.api.conversation import CHAT, body
from tests.engine.api.fakes import FakeEngine, client

COUNTERS = {
    "padded_rows": 7,
    "violation:read_foreign_row": 2,
    "fault:no_progress": 1,
    "path:per_token": 4,
}
LINE = re.compile(
    r"# (HELP|TYPE) kvlab_[a-z_]+ .+|kvlab_[a-z_]+(\{name=\"[a-z_:]+\"\})? -?[0-9]+(\.[0-9]+)?"
)


def samples(text: str) -> dict[str, str]:
    return dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))


def test_a_counter_is_told_under_its_kind_and_its_own_name() -> None:
    assert samples(exposition({"counters": COUNTERS}, alive=True)) == {
        "kvlab_up": "1",
        'kvlab_exposure_total{name="padded_rows"}': "7",
        'kvlab_violation_total{name="read_foreign_row"}': "2",
        'kvlab_fault_total{name="no_progress"}': "1",
        'kvlab_instrument{name="path:per_token"}': "4",
    }


def test_what_never_moved_is_told_as_zero_where_it_was_asked_for() -> None:
    found = samples(exposition({"counters": COUNTERS}, True, ("padded_rows", "host_hits")))
    assert found['kvlab_exposure_total{name="host_hits"}'] == "0"
    assert found['kvlab_exposure_total{name="padded_rows"}'] == "7"


def test_both_sides_of_a_pair_say_how_full_they_are() -> None:
    info = {"running": 1, "free_pages": 40, "decode_running": 2, "decode_waiting": 3}
    found = samples(exposition(info, True))
    assert found == {
        "kvlab_up": "1",
        "kvlab_running": "1",
        "kvlab_free_pages": "40",
        "kvlab_decode_running": "2",
        "kvlab_decode_waiting": "3",
    }


def test_every_line_is_prometheus_text() -> None:
    text = exposition({"counters": COUNTERS, "running": 1}, False, ("host_hits",))
    assert text.endswith("\n")
    assert [line for line in text.splitlines() if not LINE.fullmatch(line)] == []


def answers(engine: Any, *paths: str) -> list[Any]:
    async def go() -> list[Any]:
        async with client(engine) as http:
            return [await http.get(path) for path in paths]

    return clock.run(go())


def test_the_endpoint_answers_in_the_format_s_own_media_type() -> None:
    (answer,) = answers(FakeEngine(), "/metrics")
    assert (answer.status_code, samples(answer.text)) == (200, {"kvlab_up": "1"})
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"


def test_a_dead_engine_is_not_up() -> None:
    metrics, health = answers(FakeEngine(died=RuntimeError("gone")), "/metrics", "/health")
    assert samples(metrics.text) == {"kvlab_up": "0"}
    assert health.status_code == 503


def test_the_configuration_has_the_name_that_it_has_in_sglang_too() -> None:
    ours, theirs = answers(FakeEngine(), "/server_info", "/get_server_info")
    assert ours.json() == theirs.json()


def test_counting_goes_on_over_requests() -> None:
    engine = Engine(EngineConfig(pool_pages=8, model=ModelConfig(index_topk=16)))

    async def go() -> dict[str, str]:
        async with client(engine) as http:
            await http.post(CHAT, json=body(max_tokens=4))
            return samples((await http.get("/metrics")).text)

    found = clock.run(go())
    assert int(found['kvlab_exposure_total{name="decode_steps"}']) > 0
    assert (found["kvlab_running"], found["kvlab_waiting"]) == ("0", "0")
