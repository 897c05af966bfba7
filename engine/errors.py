"""The engine's errors, one tree.

    EngineError
    ├── ConfigError          a configuration that cannot work; the user's mistake
    ├── RequestRefused       a request that no schedule could serve: larger than the pool
    ├── RoomFailed           a hand-over between prefill and decode that failed
    ├── PoolError            a page freed twice, or freed by someone who does not hold it
    ├── IllegalMove          a state machine asked to take a step that its table forbids
    ├── DsmlError            markup that is not a valid block of calls (engine.text.dsml)
    ├── ApiError             an HTTP answer in OpenAI's error shape (engine.api.errors)
    └── Stalled              work waits and nothing can ever wake it (raised by the clock)

Broken invariants *under test* (a row overwritten by a stranger) are events, never exceptions:
observing them is what the engine is for.
"""

from __future__ import annotations


class EngineError(Exception):
    """Root of all errors that the engine raises on purpose."""


class ConfigError(EngineError):
    """A configuration that cannot work; the message is one line for the user.

    ``keys`` are the settings that do not work, or not together, the one to blame first.
    """

    def __init__(self, message: str, keys: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.keys = keys


class RequestRefused(EngineError):
    """A request that no schedule could ever serve.

    ``code`` is OpenAI's error code, e.g. ``context_length_exceeded``.
    """

    def __init__(self, message: str, code: str = "context_length_exceeded") -> None:
        super().__init__(message)
        self.code = code


class RoomFailed(EngineError):
    """A hand-over between prefill and decode failed: ``state`` is where the room stood, by SGLang's
    name, and ``seconds`` how long; ``why`` is one phrase, which may name the state itself.
    """

    def __init__(self, room: int, state: str, seconds: float, why: str = "") -> None:
        cause = f": {why}" if why else ""
        where = "" if state in why else f" in {state}"
        super().__init__(f"room {room} failed{where} after {seconds:.3f} s{cause}")


class PoolError(EngineError):
    """A page freed twice, or freed or used by someone who does not hold it."""


class IllegalMove(EngineError):
    """A state machine was asked for a move that its ``LEGAL`` table does not hold."""


class Stalled(EngineError):
    """Nothing is scheduled, nothing can arrive, and work still waits."""
