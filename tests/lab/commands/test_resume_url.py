"""A run of somebody's server that went away, taken up once it is back: over real HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.lab.driver.sick import CARD, Caller, sick, well

if TYPE_CHECKING:
    from pathlib import Path

SCENARIO = """\
name: theirs
target: {base_url: "URL", model: theirs}
workload: {kind: tool_tasks, preset: small, sessions: 2}
arms: [{name: one at a time, concurrency: 1}, {name: at once, concurrency: 2}]
"""


async def gone(caller: Caller) -> None:
    caller.reset()


def test_the_arm_that_lost_its_server_is_asked_again_and_is_the_control(
    kvlab, folder: Path
) -> None:
    with sick(well, {"/v1/models": gone}) as it:
        (folder / "theirs.yaml").write_text(SCENARIO.replace("URL", it.url))
        lost = kvlab("run", "theirs.yaml")
        assert lost.code == 3 and "arm 'one at a time': no server: " in lost.err
        it.documents = {"/v1/models": {"data": [CARD]}}
        said = kvlab("run", "theirs.yaml", "--resume", "last", "--json")
    assert (said.code, said.err) == (0, "")
    told = [(arm["name"], arm["unfinished"]) for arm in said.json["arms"]]
    assert told == [("one at a time", 0), ("at once", 0)]
