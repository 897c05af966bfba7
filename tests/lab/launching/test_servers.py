"""Servers start, are shared, and end: none outlives the run, and what went wrong is one line."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.error
from pathlib import Path

import pytest

from lab.errors import TargetError, UserError
from lab.launching import Servers
from tests.lab.launching.launched import PAIR, PATIENCE_S, get, profile, runs, until

ROOT = Path(__file__).parents[3]


def test_a_server_is_up_once_it_says_so(tmp_path: Path) -> None:
    with Servers(profile(), tmp_path, {"more": "--probes 3"}) as servers:
        server = servers.up({})
        assert get(f"{server.base_url}/get_server_info")["program"] == "plain"
        assert server.died() is None
        assert runs(server.pids["server"])
    assert not runs(server.pids["server"])


def test_equal_settings_share_a_boot_and_others_have_their_own(tmp_path: Path) -> None:
    with Servers(profile(), tmp_path) as servers:
        first = servers.up({"size": 1})
        assert servers.up({"size": 1, "concurrency": 8}) is first
        second = servers.up({"size": 2})
        assert (first.boot, second.boot) == (1, 2)
        assert not runs(first.pids["server"])
        assert get(second.base_url)["argv"][-2:] == ["--size", "2"]


def test_after_a_close_equal_settings_have_a_boot_of_their_own(tmp_path: Path) -> None:
    with Servers(profile(), tmp_path) as servers:
        first = servers.up({})
        servers.close()
        assert not runs(first.pids["server"])
        assert servers.up({}).boot == 2


def test_a_boot_that_died_is_not_shared(tmp_path: Path) -> None:
    with Servers(profile(), tmp_path) as servers:
        first = servers.up({})
        with pytest.raises((urllib.error.URLError, ConnectionError)):
            get(f"{first.base_url}/die")
        until(lambda: first.died() is not None)
        assert servers.up({}).boot == 2


def test_a_death_is_told_with_the_log_s_last_error(tmp_path: Path) -> None:
    with Servers(profile(), tmp_path) as servers:
        server = servers.up({})
        with pytest.raises((urllib.error.URLError, ConnectionError)):
            get(f"{server.base_url}/die")
        until(lambda: server.died() is not None)
        assert server.died() == (
            "node server ended with exit code 9: RuntimeError: the engine core is gone; "
            f"log: {tmp_path}/boot-1-server.log"
        )


def test_a_server_that_dies_at_its_start_ends_the_wait_at_once(tmp_path: Path) -> None:
    with Servers(profile(), tmp_path, {"more": "--die 'OutOfMemoryError: no room'"}) as servers:
        with pytest.raises(TargetError) as error:
            servers.up({})
        assert error.value.exit_code == 3
        assert str(error.value) == (
            "profile sick: node server ended with exit code 3: OutOfMemoryError: no room; "
            f"log: {tmp_path}/boot-1-server.log; it never became ready"
        )


def test_a_server_that_is_never_ready_is_stopped_and_told_of(tmp_path: Path) -> None:
    hasty = profile(old="timeout_s: 60", new="timeout_s: 1.5")
    with Servers(hasty, tmp_path, {"more": "--never"}) as servers:
        with pytest.raises(TargetError, match=r"is not ready after 1\.5 s \(GET /health: "):
            servers.up({})
        assert servers.pids == {}


def test_a_command_that_is_not_there_is_told_of(tmp_path: Path) -> None:
    absent = profile(old="{python} plain", new="no-such-server")
    with Servers(absent, tmp_path) as servers, pytest.raises(TargetError) as error:
        servers.up({})
    assert str(error.value) == (
        "profile sick: node server cannot be started: no-such-server: No such file or directory"
    )


def test_a_port_that_is_taken_is_told_of(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        fixed = profile(old="--port {port}", new=f"--port {held.getsockname()[1]}")
        with Servers(fixed, tmp_path) as servers, pytest.raises(TargetError) as error:
            servers.up({})
    assert "OSError: [Errno 98] Address already in use" in str(error.value)


def test_a_server_that_ignores_sigterm_is_killed_with_its_children(tmp_path: Path) -> None:
    with Servers(profile(), tmp_path, {"more": "--deaf --family"}, stop_s=0.2) as servers:
        server = servers.up({})
        (child,) = get(server.base_url)["family"]
        assert runs(child)
    assert not runs(server.pids["server"])
    until(lambda: not runs(child))


def test_a_router_starts_once_its_server_is_ready(tmp_path: Path) -> None:
    with Servers(profile(PAIR), tmp_path) as servers:
        server = servers.up({})
        assert server.base_url == server.urls["router"]
        assert get(server.base_url)["argv"][-1] == server.urls["server"]
        assert set(server.logs) == {"server", "router"}


def test_a_router_that_fails_takes_its_server_with_it(tmp_path: Path) -> None:
    with Servers(profile(PAIR), tmp_path, {"more": "--die broken"}) as servers:
        with pytest.raises(TargetError, match="node router ended with exit code 3: broken"):
            servers.up({})
        log = (tmp_path / "boot-1-server.log").read_text()
        assert "plain listens" in log
        assert servers.pids == {}


def test_nothing_is_left_after_an_error_or_an_interruption(tmp_path: Path) -> None:
    for failure in (ValueError, KeyboardInterrupt):
        with pytest.raises(failure), Servers(profile(), tmp_path) as servers:
            server = servers.up({})
            raise failure
        assert not runs(server.pids["server"])


def test_nothing_is_left_of_a_run_that_was_killed(tmp_path: Path) -> None:
    """The guard ends what its run can end no more."""
    script = (
        "import sys; from pathlib import Path\n"
        "from lab.launching import Servers; from tests.lab.launching.launched import profile\n"
        f"server = Servers(profile(), Path({str(tmp_path)!r}), {{'more': '--family'}}).up({{}})\n"
        "print(server.pids['server'], server.base_url, flush=True); sys.stdin.read()\n"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=pipe, stdout=pipe, text=True, cwd=ROOT
    ) as run:
        assert run.stdout is not None
        pid, url = run.stdout.readline().split()
        (child,) = get(url)["family"]
        run.kill()
        run.wait(PATIENCE_S)
    until(lambda: not runs(int(pid)) and not runs(child))


def test_a_run_that_goes_on_numbers_its_boots_on(tmp_path: Path) -> None:
    for boot in (1, 2):
        with Servers(profile(), tmp_path) as servers:
            assert servers.up({}).boot == boot
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "boot-1-server.log",
        "boot-2-server.log",
    ]


def test_a_log_begins_with_its_command(tmp_path: Path) -> None:
    with Servers(profile(), tmp_path) as servers:
        server = servers.up({})
        (command,) = server.commands
        assert server.logs["server"].read_text().splitlines() == [
            f"$ {command.line}",
            "plain listens",
        ]


def test_a_mistake_in_a_parameter_leaves_the_server_alone(tmp_path: Path) -> None:
    with Servers(profile(), tmp_path) as servers:
        server = servers.up({})
        servers.params["mroe"] = "x"
        with pytest.raises(UserError, match="no parameter 'mroe'; accepted: more"):
            servers.up({})
        assert server.died() is None


def test_a_server_that_somebody_killed_is_told_of_by_its_signal(tmp_path: Path) -> None:
    with Servers(profile(), tmp_path) as servers:
        server = servers.up({})
        os.kill(server.pids["server"], signal.SIGKILL)
        until(lambda: server.died() is not None)
        assert "node server was ended by SIGKILL: plain listens" in str(server.died())
