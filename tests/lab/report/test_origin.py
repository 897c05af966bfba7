"""Where a run comes from: what is kvlab's, and what is somebody else's server's."""

from __future__ import annotations

import json
from dataclasses import replace

from lab.exposure import FOREIGN
from lab.records import ArmHistory
from lab.report.markdown import markdown
from lab.report.origin import Origin, origin
from tests.lab.report.pages import clean_run, read
from tests.lab.report.test_views import STORED
from tests.lab.samples import history

LOAD = "workload: {kind: tool_tasks}\n"
FOREIGN_YAML = f"target: http://127.0.0.1:30000\n{LOAD}"


def served(path: str, version: str, owner: str) -> ArmHistory:
    """An arm of a server that told its version at ``path``."""
    arm = history("one")
    models = json.dumps({"data": [{"id": "m", "owned_by": owner}]})
    arm.events += [
        (0, FOREIGN, {"url": "http://x", "boot": 0, "model": "m"}),
        (0, "server_info", {"path": "/v1/models", "info": models}),
        (0, "server_info", {"path": path, "info": json.dumps({"version": version})}),
    ]
    return arm


def of(yaml: str, *arms: ArmHistory) -> Origin:
    return origin(replace(STORED, yaml=yaml), arms)


def test_a_build_of_the_bundled_engine_without_a_defect_is_healthy() -> None:
    lines = of(f"target: bundled\n{LOAD}").lines()
    assert lines["build"] == "healthy" and "versions" in lines
    assert of(LOAD).lines()["build"] == "healthy"


def test_somebody_else_s_server_is_not_called_healthy_and_our_versions_are_not_its() -> None:
    lines = of(FOREIGN_YAML).lines()
    assert lines["build"] == "the server's own, unknown to kvlab"
    assert lines["versions of kvlab, not of the server"] == "torch 2.13.0"
    assert not {"versions", "server's version"} & {*lines}


def test_a_fault_that_was_planted_in_a_server_is_named_beside_its_own_build() -> None:
    lines = of(f"target: vllm\nbuild: [some_fault]\n{LOAD}").lines()
    assert lines["build"] == "the server's own, unknown to kvlab; planted in it: some_fault"


def test_the_version_that_servers_told_stands_beside_ours_once_each() -> None:
    arms = [served("/version", "0.11.0", "vllm"), served("/version", "0.11.0", "vllm")]
    arms.append(served("/get_server_info", "0.5.4", "sglang"))
    assert of(FOREIGN_YAML, *arms).lines()["server's version"] == "vllm 0.11.0, sglang 0.5.4"


def test_page_and_markdown_of_a_server_say_whose_versions_they_are() -> None:
    made, arm = clean_run(), served("/version", "0.11.0", "vllm")
    stored = replace(STORED, yaml=FOREIGN_YAML)
    told = replace(made, stored=stored, histories=[replace(arm, name="an arm")])
    text = markdown(told.verdict, stored, told.histories)
    assert "- build: the server's own, unknown to kvlab\n" in text
    assert "- server's version: vllm 0.11.0\n- versions of kvlab, not of the server: torch" in text
    words = read(told).words
    assert "healthy" not in words and "vllm 0.11.0" in words
