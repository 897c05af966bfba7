"""A target that is not the engine in this process: what becomes of an arm without a server."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from lab.errors import TargetError
from lab.judging import judge_arm
from lab.launching import Server, Servers
from lab.records import ArmHistory
from lab.scenario.loader import load_scenario, parse_scenario
from lab.targets import Task, failed, failure, foreign
from lab.trial import run_arm
from tests.lab.samples import history
from tests.lab.scenario.servers import served

if TYPE_CHECKING:
    from pathlib import Path

    from lab.profiles import Profile

AT = """\
name: anywhere
target: {target}
workload: {{kind: tool_sessions, preset: small, sessions: 2}}
arms: [{{name: theirs}}]
"""


@pytest.fixture
def driven(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Task, Server, Profile | None]]:
    """Arms are not driven; who would have been asked is noted."""
    asked: list[tuple[Task, Server, Profile | None]] = []

    def run_remote(task: Task, server: Server, profile: Profile | None = None) -> ArmHistory:
        asked.append((task, server, profile))
        return history(task.name)

    monkeypatch.setattr(foreign, "run_remote", run_remote)
    return asked


def test_a_url_is_asked_as_it_is_with_the_model_and_the_key_that_the_file_names(driven) -> None:
    target = "{base_url: http://127.0.0.1:9/v1, model: qwen, api_key_env: SHOP_KEY}"
    scenario = parse_scenario(AT.format(target=target), "url.yaml")
    run_arm(scenario, scenario.arms[0], 7)
    ((task, server, profile),) = driven
    assert (server.base_url, server.model, profile) == ("http://127.0.0.1:9", "qwen", None)
    assert (server.api_key_env, task.seed, task.clock) == ("SHOP_KEY", 7, "wall")


def test_a_profile_s_arm_is_driven_on_the_boot_of_its_settings(
    driven, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scenario = load_scenario(served(tmp_path))
    asked = []
    server = Server("http://127.0.0.1:9", 3, (), {}, {})
    monkeypatch.setattr(Servers, "up", lambda self, settings: asked.append(settings) or server)
    with foreign.servers_of(scenario, tmp_path) as servers:
        run_arm(scenario, scenario.arms[1], 0, servers=servers)
    assert [settings["prefix_caching"] for settings in asked] == [False]
    assert driven[0][1] is server and driven[0][2] is scenario.target.profile


def test_a_server_that_does_not_come_up_is_an_arm_of_which_nothing_was_sent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scenario = load_scenario(served(tmp_path))

    def up(self: Servers, settings: object) -> Server:
        raise TargetError("profile shop: node server ended with exit code 1: no memory")

    monkeypatch.setattr(Servers, "up", up)
    with foreign.servers_of(scenario, tmp_path) as servers:
        left = run_arm(scenario, scenario.arms[0], 0, servers=servers)
    why = "no server: profile shop: node server ended with exit code 1: no memory"
    assert failure(left) == why and failed(why)
    assert [reply.status for reply in left.replies] == ["not_sent"] * 16
    verdict, _ = judge_arm(left)
    assert (verdict.verdict, verdict.reason) == ("inconclusive", why)
    assert (verdict.replies_due, verdict.replies_corrupt, verdict.unfinished) == (16, 0, 16)


def test_nobody_at_a_url_is_told_the_same_way() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        scenario = parse_scenario(AT.format(target=url), "url.yaml")
        left = run_arm(scenario, scenario.arms[0], 0)
    assert str(failure(left)).startswith(f"no server: {url} does not answer: ")


def test_a_url_s_flush_and_cap_reach_its_server(driven) -> None:
    beside = "{base_url: 'http://127.0.0.1:9', flush: /flush_cache, max_requests_per_s: 3}"
    scenario = parse_scenario(AT.format(target=beside), "url.yaml")
    run_arm(scenario, scenario.arms[0], 7)
    ((_, asked, _),) = driven
    assert (asked.flush, asked.max_requests_per_s) == ("/flush_cache", 3)
