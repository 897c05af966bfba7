"""Whose server listens on a port. One rule: somebody is a stranger only where we see that he is.

Linux's ``/proc``. A process that we may not look into, and every one on another system, is believed
to be the node's; so is whatever is in the node's group or session, or below it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
TABLES = ("net/tcp", "net/tcp6")
LISTEN = "0A"


@dataclass(frozen=True)
class Stranger:
    """A process that listens where a node should."""

    pid: int
    name: str


def stranger(port: int, group: int, proc: Path = PROC) -> Stranger | None:
    """Somebody else than the processes of the node's ``group`` who listens on the port, if any."""
    for inode in _listening(port, proc):
        owners = list(_owners(inode, proc))
        if owners and not any(_belongs(pid, group, proc) for pid in owners):
            return Stranger(owners[0], _read(proc / f"{owners[0]}/comm").strip())
    return None


def _listening(port: int, proc: Path) -> Iterator[str]:
    """The sockets that listen on the port, whatever their address."""
    for table in TABLES:
        for line in _read(proc / table).splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTEN and int(fields[1].rpartition(":")[2], 16) == port:
                yield fields[9]


def _owners(inode: str, proc: Path) -> Iterator[int]:
    """The processes that hold the socket open."""
    link = f"socket:[{inode}]"
    for folder in proc.glob("[0-9]*"):
        if any(_link(file) == link for file in _files(folder)):
            yield int(folder.name)


def _belongs(pid: int, group: int, proc: Path) -> bool:
    """Whether the process is of the group, of its session, or below one that is."""
    while pid > 1:
        if pid == group:
            return True
        fields = _read(proc / f"{pid}/stat").rpartition(")")[2].split()
        if not fields:
            return False
        above, its_group, session = map(int, fields[1:4])
        if group in (its_group, session):
            return True
        pid = above
    return False


def _files(folder: Path) -> list[Path]:
    try:
        return list((folder / "fd").iterdir())
    except OSError:  # it has ended, or is another user's
        return []


def _link(file: Path) -> str:
    try:
        return str(file.readlink())
    except OSError:
        return ""


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
