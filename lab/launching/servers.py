"""The servers of a run, a boot at a time. One rule: whatever happens, none outlives the run, and
no key does in a log.

Arms whose commands are the same, but for the ports, share a boot. A boot's nodes start in their
order, each once the one before it is ready; if one is not, all of them are stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lab.driver.secret import Secret
from lab.errors import TargetError
from lab.launching.logs import without_key
from lab.launching.ports import LOOPBACK, Ports
from lab.launching.process import Guard, Process
from lab.launching.ready import await_ready, await_silence
from lab.profiles.commands import NodeCommand, boot_key, commands, model_name
from lab.profiles.models import PORT

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from lab.profiles import Profile

STOP_S = 30.0  # from SIGTERM to SIGKILL: an engine frees its devices meanwhile
BOOT = "boot"
NO_KEY = Secret()


@dataclass(frozen=True)
class Server:
    """A boot that is up: where it answers, what it was started with, and its logs by node.

    ``urls`` are the nodes' own; ``model`` is '' where the first of /v1/models is meant. ``flush``
    and ``max_requests_per_s`` are a URL's: where it forgets its caches, and what it is spared.
    """

    base_url: str
    boot: int
    commands: tuple[NodeCommand, ...]
    logs: Mapping[str, Path]
    urls: Mapping[str, str]
    model: str = ""
    api_key_env: str = ""
    flush: str = ""
    max_requests_per_s: float = 0.0
    processes: tuple[Process, ...] = field(default=(), repr=False)

    def died(self) -> str | None:
        """Which node ended, and how, in one line; None while all of them run."""
        return next(filter(None, (process.died() for process in self.processes)), None)

    @property
    def pids(self) -> dict[str, int]:
        """Each node's process."""
        return {process.command.name: process.pid for process in self.processes}


class Servers:
    """The boots of one run of one profile; ``folder`` takes the logs, ``say`` a line per boot.
    ``secret`` is what the servers want of a client: it is taken out of what they print.

    >>> with Servers(profile, folder) as servers:                           # doctest: +SKIP
    ...     server = servers.up({"prefix_caching": False})
    """

    def __init__(
        self,
        profile: Profile,
        folder: Path,
        params: Mapping[str, str] | None = None,
        build: Sequence[str] = (),
        *,
        secret: Secret = NO_KEY,
        stop_s: float = STOP_S,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.profile, self.folder, self.build = profile, folder, tuple(build)
        self.params, self.stop_s, self._say = dict(params or {}), stop_s, say
        self.secret = secret
        self._ports = Ports()
        self._guard: Guard | None = None  # a process too: it starts with the first boot
        self._running: list[Process] = []
        self._server: Server | None = None
        self._key: tuple[str, ...] = ()

    def __enter__(self) -> Servers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def up(self, settings: Mapping[str, Any]) -> Server:
        """The server of these settings: the running one where it is theirs and lives, else another.

        Raises `TargetError` where it does not come up, `UserError` where a parameter is missing.
        """
        key = boot_key(self.profile, settings, self.params, self.build)
        if self._server is not None and key == self._key and not self._server.died():
            return self._server
        self._stop()
        try:
            self._server, self._key = self._boot(settings), key
        except BaseException:
            self._stop()
            raise
        return self._server

    @property
    def pids(self) -> dict[str, int]:
        """The processes that are up now, by node."""
        return {process.command.name: process.pid for process in self._running}

    def close(self) -> None:
        """Stop what runs; nothing is left of it, however this ends. The next arm has a new boot."""
        try:
            self._stop()
        finally:
            if self._guard is not None:
                self._guard.close()
                self._guard = None

    def _boot(self, settings: Mapping[str, Any]) -> Server:
        profile, boot = self.profile, self._number()
        ports = self._ports.take(profile.ports)
        found = commands(profile, settings, self.params, ports, self.build)
        self._say(f"{profile.name}: boot {boot} starts")
        urls = {node.name: _url(ports[f"{node.name}.{PORT}"]) for node in profile.nodes}
        logs = {node.name: self._log(boot, node.name) for node in profile.nodes}
        for node, command in zip(profile.nodes, found, strict=True):
            try:
                self._start(command, logs[node.name])
                await_ready(self._running, urls[node.name], node.ready)
            except TargetError as error:
                told = self.secret.scrub_cut(f"profile {profile.name}: {error}")
                raise TargetError(told) from None
        return Server(
            base_url=urls[profile.endpoint],
            boot=boot,
            commands=found,
            logs=logs,
            urls=urls,
            model=model_name(profile, self.params),
            api_key_env=self.secret.variable,
            processes=tuple(self._running),
        )

    def _start(self, command: NodeCommand, log: Path) -> None:
        self._guard = self._guard or Guard()
        process = Process(command, log)
        self._running.append(process)
        self._guard.watch(process.pid)

    def _stop(self) -> None:
        """Stop the nodes, the last one first, and wait until nobody answers where they did."""
        urls = self._server.urls if self._server else {}
        logs = [process.log for process in self._running]
        self._server, self._key = None, ()
        while self._running:
            process = self._running[-1]
            process.stop(self.stop_s)
            if self._guard is not None:
                self._guard.forget(process.pid)
            self._running.pop()
        for url in urls.values():
            await_silence(url, self.stop_s)
        self._ports.release()
        for log in logs:
            without_key(log, self.secret)

    def _number(self) -> int:
        """The next boot's number: one more than any that has left a log in the folder."""
        logs = (path.name.split("-") for path in self.folder.glob(f"{BOOT}-*-*.log"))
        return 1 + max((int(words[1]) for words in logs if words[1].isdecimal()), default=0)

    def _log(self, boot: int, node: str) -> Path:
        return self.folder / f"{BOOT}-{boot}-{node}.log"


def _url(port: int) -> str:
    return f"http://{LOOPBACK}:{port}"
