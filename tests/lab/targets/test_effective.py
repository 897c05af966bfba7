"""What a server runs with is read back; a setting that it ignores makes its arm inconclusive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab.judging import judge_arm
from lab.profiles.models import Profile
from lab.records import ArmHistory
from lab.targets.remote import run_remote
from tests.lab.driver.sick import CARD, sick, well
from tests.lab.targets.remotes import server, stranger_task

MODELS = {"data": [CARD]}
INVERSE = {"true": False, "false": True}
THEIRS: dict[str, Any] = {
    "name": "theirs",
    "about": "a server",
    "status": "not run by us: a fake",
    "nodes": [{"name": "server", "command": "serve {toggles*}"}],
    "endpoint": "server",
    "toggles": {
        "cache": {"about": "prefixes", "type": "switch", "on": ["--cache"]},
        "tp": {"about": "ranks", "type": "int", "flag": "--tp"},
        "dtype": {"about": "numbers", "type": "choice", "flag": "-d", "choices": ["a", "b"]},
        "other": {"about": "nobody knows", "type": "int", "flag": "-o"},
    },
    "readback": {
        "cache": {"json": "/get_server_info", "key": "args.disable", "reads": INVERSE},
        "tp": {"log": "ranks=(\\d+)"},
        "dtype": {"json": "/config?as=json", "key": "dtype"},
    },
}
PROFILE = Profile.model_validate(THEIRS)
ASKED = {"cache": False, "tp": 2, "dtype": "a", "other": 3}
INFO = {"args": {"disable": True}}


def told(history: ArmHistory, kind: str) -> list[dict[str, Any]]:
    return [fields for _, found, fields in history.events if found == kind]


def driven(log: Path, documents: dict[str, Any], text: str = "ranks=2\n") -> ArmHistory:
    log.write_text(text)
    with sick(well, {"/v1/models": MODELS, **documents}) as it:
        theirs = server(it.url, logs={"server": log})
        return run_remote(stranger_task(settings=ASKED, turns=1), theirs, PROFILE)


def test_settings_that_took_effect_are_said_to_have(tmp_path: Path) -> None:
    found = {"/get_server_info": INFO, "/config?as=json": {"dtype": "a"}}
    history = driven(tmp_path / "log", found)
    assert [it["key"] for it in told(history, "setting_effective")] == ["cache", "tp", "dtype"]
    assert judge_arm(history)[0].verdict == "clean"
    assert [it["path"] for it in told(history, "server_info")] == [
        "/get_server_info",
        "/config?as=json",
        "/v1/models",
    ]


@pytest.mark.parametrize(
    ("key", "found", "text", "reason"),
    [
        (
            "cache",
            {"/get_server_info": {"args": {"disable": False}}},
            "",
            "cache false runs as true (/get",
        ),
        ("tp", {}, "ranks=2\nranks=4\n", "tp 2 runs as 4 (log: ranks=(\\d+))"),
        ("dtype", {"/config?as=json": {"dtype": "b"}}, "", "dtype a runs as b (/config?as=json dt"),
    ],
)
def test_a_setting_that_did_not_take_effect_makes_the_arm_inconclusive(
    tmp_path: Path, key: str, found: dict[str, Any], text: str, reason: str
) -> None:
    history = driven(tmp_path / "log", found, text)
    assert [it["key"] for it in told(history, "setting_not_effective")] == [key]
    verdict, _ = judge_arm(history)
    assert verdict.verdict == "inconclusive"
    assert verdict.reason.startswith(f"did not take effect: {reason}")


def test_what_a_server_makes_of_a_setting_is_no_difference() -> None:
    how = {"json": "/config?as=json", "key": "dtype", "means": {"a": ["b"]}}
    mine = Profile.model_validate(THEIRS | {"readback": {"dtype": how}})
    with sick(well, {"/v1/models": MODELS, "/config?as=json": {"dtype": "b"}}) as it:
        history = run_remote(stranger_task(settings=ASKED, turns=1), server(it.url), mine)
    where = "/config?as=json dtype"
    assert told(history, "setting_effective") == [
        {"key": "dtype", "asked": "a", "effective": "b", "where": where}
    ]
    assert judge_arm(history)[0].verdict == "clean"


def test_a_setting_that_cannot_be_read_changes_no_verdict(tmp_path: Path) -> None:
    history = driven(tmp_path / "log", {"/get_server_info": []}, "")
    assert [it["key"] for it in told(history, "setting_not_read")] == ["cache", "tp", "dtype"]
    assert judge_arm(history)[0].verdict == "clean"


def test_a_model_that_is_not_served_is_a_difference() -> None:
    with sick(well) as it:
        history = run_remote(stranger_task(turns=1), server(it.url, model="mine"))
    assert told(history, "setting_not_effective") == [
        {"key": "model", "asked": "mine", "effective": "theirs", "where": "/v1/models"}
    ]
    assert judge_arm(history)[0].reason == (
        "did not take effect: model mine runs as theirs (/v1/models)"
    )
