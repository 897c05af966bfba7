"""A target that is not the engine in this process: it is found or started, then driven.

One rule: a server that does not come up, or does not answer, is an arm too: every reply of it was
due, and none was sent.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from engine.events import EventLog
from lab.driver import Recorder
from lab.errors import TargetError
from lab.exposure import FOREIGN
from lab.launching import Server, Servers
from lab.planned import announce
from lab.records import NO_DIGEST, ArmHistory
from lab.targets.base import NO_SERVER
from lab.targets.keys import secret
from lab.targets.remote import run_remote

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from lab.scenario.models import Scenario
    from lab.targets.base import Task
    from lab.targets.spec import TargetSpec

Opened = Servers | None


def servers_of(
    scenario: Scenario, folder: Path, say: Callable[[str], None] = lambda line: None
) -> AbstractContextManager[Opened]:
    """The servers of a scenario's profile, none of them up yet; logs go to ``folder``. Raises
    `UserError` for a key that is not there: before anything is started.
    """
    target = scenario.target
    if target.profile is None:
        return nullcontext()
    given = {**target.profile.params, **target.params}
    key = secret(given.get("api_key_env") or "")
    return Servers(target.profile, folder, target.params, scenario.build, secret=key, say=say)


def run_foreign(task: Task, target: TargetSpec, servers: Opened) -> ArmHistory:
    """Run the arm on the server of its settings; raises `UserError`."""
    try:
        if servers is None:
            return run_remote(task, _somebody_s(target))
        return run_remote(task, servers.up(task.settings), servers.profile)
    except TargetError as error:
        return _without(task, target, str(error).removeprefix(f"arm {task.name!r}: "))


def _somebody_s(target: TargetSpec) -> Server:
    return Server(
        base_url=target.name,
        boot=0,
        commands=(),
        logs={},
        urls={},
        model=target.model,
        api_key_env=target.api_key_env,
        flush=target.flush,
        max_requests_per_s=target.max_requests_per_s,
    )


def _without(task: Task, target: TargetSpec, why: str) -> ArmHistory:
    """The arm of which nothing was sent."""
    log = EventLog(lambda: 0)
    log.emit(FOREIGN, url=target.name, boot=0, model=target.model)
    announce(task.plans, log)
    log.emit(NO_SERVER, error=why)
    replies = Recorder(task.plans).replies(f"no server: {why}")
    return ArmHistory(
        name=task.name,
        settings=task.settings,
        sessions=len(task.plans),
        replies=replies,
        counters=dict(log.counters),
        events=[(at, kind, dict(fields)) for at, kind, fields in log.events],
        history_digest=NO_DIGEST,
        wall_s=0.0,
        virtual_s=0.0,
        timeout_s=task.workload.timeout_s,
    )
