"""Hand-made histories of a corrupt reply, with the ledger's events as an engine tells them.

One rule: session ``s``, turn ``t`` is request ``10 * s + t + 1``; token ``n`` of a reply that began
at second ``b`` is computed by the step that is launched at ``b + (n - 1) / 100``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lab.records import ArmHistory, Finding, Reply
from tests.lab.samples import RIGHT, history, reply

NS = 1_000_000_000
STEPS = 100  # a second
Told = tuple[int, str, dict[str, Any]]


def request(session: int, turn: int) -> int:
    """The number of a turn's request."""
    return 10 * session + turn + 1


def spoilt(token: int) -> str:
    """The right text with another letter at a token; only bytes may come before it."""
    start = RIGHT.index(">") + 1  # <think> is one token
    at = start + token - 1
    return RIGHT[:at] + "#" + RIGHT[at + 1 :]


def bad(session: int, turn: int, token: int, began_s: float = 1.0) -> Reply:
    """A reply whose token ``token`` is wrong."""
    made = reply(session, turn, text=spoilt(token))
    return replace(
        made,
        request_id=f"chatcmpl-{request(session, turn)}",
        completion_tokens=60,
        sent_s=began_s - 0.1,
        first_token_s=began_s,
        done_s=began_s + 0.6,
    )


def good(session: int, turn: int, began_s: float = 1.0) -> Reply:
    """A right one."""
    return replace(bad(session, turn, 5, began_s), raw_text=RIGHT)


def violation(name: str, at_s: float = 0.5, **fields: Any) -> Told:
    """A broken invariant as the history has it."""
    return (round(at_s * NS), "violation", {"name": name, "n": 1, **fields})


def fault(name: str, at_s: float = 0.5, **fields: Any) -> Told:
    """Evidence of a fault that destroys no row."""
    return (round(at_s * NS), "fault", {"name": name, "n": 1, **fields})


def read(name: str, by: int, output: int = 3, **fields: Any) -> Told:
    """A step read a wrong row of index-K, for token ``output`` of request ``by``."""
    place = {"pool": "index_k", "layer": 1, "page": 245, "slot": 15700, "position": 812}
    reader = {"reader": f"decode step 40 row 3 of request {by}", "request": by, "step": 40}
    known = {"state": "VALID", "generation": 2, "owner": f"request {by}", "output": output}
    return violation(name, 1.0 + output / STEPS, **{**place, **reader, **known, **fields})


PADDING = {
    "writer": "padding lane 9 of decode step 31",
    "writer_kind": "padding",
    "writer_step": 31,
    "writer_lane": 9,
    "writer_at_us": 900_000,
}


def arm(*replies: Reply, events: tuple[Told, ...] = (), **more: Any) -> ArmHistory:
    """An arm of these replies, with a decode step every hundredth of a second for five seconds."""
    steps: list[Told] = [
        (NS + n * NS // STEPS, "decode", {"rows": 8, "size": 16}) for n in range(5 * STEPS)
    ]
    told = sorted([*steps, *events], key=lambda event: event[0])
    return replace(history("bf16"), replies=list(replies), events=told, **more)


def found(made: ArmHistory, kind: str = "corrupt", detector: str = "wrong_text") -> list[Finding]:
    """What judges say of the replies that are not right."""
    return [
        Finding(it.session, it.turn, detector, "fail", "not what it should be", kind)
        for it in made.replies
        if it.raw_text != RIGHT or kind != "corrupt"
    ]
