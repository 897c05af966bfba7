"""What a target is given and what it must answer. One rule: it raises only ``LabError``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab.exposure import is_foreign
from lab.records import ArmHistory, SessionPlan
from lab.registry import Registry
from lab.rooms import names_a_room

if TYPE_CHECKING:
    from engine.events import Event
    from lab.driver.recorder import Progress
    from lab.workloads import WorkloadModel

Watch = Callable[["Event"], bool]  # hears each event that is no remark; whether the arm ends there


@dataclass(frozen=True)
class Task:
    """One arm to run: its name, every toggle's value, the build under test and the load.

    It runs to its end, or to the first event of which ``watch`` says so; its clock is ``virtual``
    or ``wall``.
    """

    name: str
    settings: dict[str, Any]
    build: tuple[str, ...]
    seed: int
    workload: WorkloadModel
    plans: tuple[SessionPlan, ...]
    progress: Progress
    watch: Watch | None = None
    clock: str = "virtual"


DIED, SERVED_NOTHING = "the engine died: ", "the engine served nothing: "
NO_SERVER = "no_server"  # the event of a server that did not come up, or does not answer
ENDED = {"engine_died": DIED, NO_SERVER: "no server: "}


def failed(why: str) -> bool:
    """Whether a reason is one of `failure`'s."""
    return why.startswith((*ENDED.values(), SERVED_NOTHING))


def absent(why: str) -> bool:
    """Whether a reason says that there was no server at all."""
    return why.startswith(ENDED[NO_SERVER])


def failure(history: ArmHistory) -> str | None:
    """Why the target is to blame for this arm, in one line: it was not there, died, or served
    nothing at all.

    None where it served: a request that fails now and then is an observation, not an accident, and
    so are the requests of a pair whose rooms fail, be it all of them.
    """
    for _, kind, fields in history.events:
        if kind in ENDED:
            return _line(f"{ENDED[kind]}{fields['error']}")
    if any(reply.status == "ok" for reply in history.replies):
        return None
    errors = [str(it.error) for it in history.replies if it.status == "transport_error"]
    accidents = [error for error in errors if not names_a_room(error)]
    accidents = accidents or _in_vain(history)
    return _line(f"{SERVED_NOTHING}{accidents[0]}") if accidents else None


def _in_vain(history: ArmHistory) -> list[str]:
    """What the clients of somebody else's server say who all waited, and no part of a reply came:
    a server that began to answer, or is our own, may be wedged.
    """
    sent = [reply for reply in history.replies if reply.status != "not_sent"]
    if not is_foreign(history) or history.stalled is not None:
        return []
    in_vain = all(
        it.status == "timeout" and it.done_s is not None and it.first_token_s is None for it in sent
    )
    return [str(reply.error) for reply in sent] if in_vain else []


def _line(text: str) -> str:
    return " ".join(text.split())


Target = Callable[[Task], ArmHistory]
TARGETS: Registry[Target] = Registry("target", "lab.targets")
