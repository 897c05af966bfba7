"""Real servers, started for the arms of a run and stopped with it; `servers.py` is the way in."""

from lab.launching.servers import Server, Servers

__all__ = ["Server", "Servers"]
