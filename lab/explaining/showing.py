"""What `kvlab explain` prints. One rule: it reads a stored run, and runs nothing again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.commands.output import show, show_json
from lab.errors import StoreError
from lab.explaining import summary
from lab.explaining.choosing import best, explanations
from lab.explaining.document import document
from lab.explaining.words import said, wrapped
from lab.scenario.problem import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lab.explaining.choosing import Explanation
    from lab.store import Results


def explain(results: Results, run: str, arm: str | None, session: int | None) -> None:
    """Print why one reply of the run is wrong: the session's, or the one with most evidence."""
    found = _found(results, run, arm)
    it = _chosen(found, session)
    if it is None:
        show(" ".join([_nothing(found, session), *_unseen(results, run, found)]))
        return
    show("\n".join([f"run {run}, {results.run(run).scenario}", *said(it), *_others(found, it)]))


def explain_json(results: Results, run: str, arm: str | None, session: int | None) -> None:
    """The same as one document; of a run without a failed reply, one that says so."""
    found = _found(results, run, arm)
    it = _chosen(found, session)
    if it is None:
        lines = [_nothing(found, session), *_unseen(results, run, found)]
        show_json({"run": run, "found": "nothing", "said": lines})
    else:
        show_json(document(run, it, len(_alike(found, it)) - 1))


def explain_all(results: Results, run: str, arm: str | None) -> None:
    """Print a line for each corrupt session of each arm, and how many have their damage found."""
    for name, found in _found(results, run, arm).items():
        show("\n".join([f'arm "{name}"', *wrapped(summary.lines(found))]))


def explain_all_json(results: Results, run: str, arm: str | None) -> None:
    """The same as one document."""
    arms = [
        {"arm": name, **summary.counted(found), "sessions": summary.rows(found)}
        for name, found in _found(results, run, arm).items()
    ]
    show_json({"run": run, "arms": arms})


def _found(results: Results, run: str, arm: str | None) -> dict[str, list[Explanation]]:
    """Explanations of every failed session, by arm; raises ``StoreError``."""
    stored = results.run(run)
    results.verdict(run)  # says so if nobody has judged it
    if arm is not None and arm not in stored.arms:
        accepted = ", ".join(repr(name) for name in stored.arms)
        near = did_you_mean(arm, stored.arms)
        raise StoreError(f"--arm {arm}: no such arm; accepted: {accepted}{near}")
    findings = results.findings(run)
    histories = [it for it in results.histories(run) if arm in (None, it.name)]
    return {it.name: list(explanations(it, findings.get(it.name, ()))) for it in histories}


def _chosen(found: Mapping[str, Sequence[Explanation]], session: int | None) -> Explanation | None:
    """The session's, of the first arm in which it failed; without one the most telling."""
    every = _failed(found)
    if session is None:
        return best(every)
    return next((it for it in every if it.reply.session == session), None)


def _failed(found: Mapping[str, Sequence[Explanation]]) -> list[Explanation]:
    return [it for each in found.values() for it in each]


def _others(found: Mapping[str, Sequence[Explanation]], it: Explanation) -> list[str]:
    """How many other sessions are as bad, and how to see them."""
    alike = _alike(found, it)
    if len(alike) < 2:
        return []
    which = "is 1 other" if len(alike) == 2 else f"are {len(alike) - 1} others"
    return [f"There {which} of this arm; --all prints a line for each, --session N explains one."]


def _alike(found: Mapping[str, Sequence[Explanation]], it: Explanation) -> list[Explanation]:
    """The sessions of its arm that failed in the same way, itself among them."""
    return [one for one in found[it.history.name] if one.kind == it.kind]


def _nothing(found: Mapping[str, Sequence[Explanation]], session: int | None) -> str:
    where = ", ".join(f'"{name}"' for name in found) or "no arm"
    if session is None:
        return f"No reply failed a judge in {where}: there is nothing to explain."
    failed = sorted({it.reply.session for it in _failed(found)})
    some = ", ".join(str(number) for number in failed[:20]) or "none"
    return f"Session {session}: no judge failed it in {where}. Those that failed: {some}."


def _unseen(results: Results, run: str, found: Mapping[str, Sequence[Explanation]]) -> list[str]:
    """What the ledger saw though no reply shows it, an arm a sentence."""
    judged = {arm.name: _times(arm.violations) for arm in results.verdict(run).arms}
    return [
        f'"{name}": the ledger saw {seen} all the same, and no reply shows it.'
        for name in found
        if not found[name] and (seen := judged.get(name))
    ]


def _times(counts: Mapping[str, int]) -> str:
    """``restored_page_differs 3 times, ...``; empty where there are none."""
    return ", ".join(
        f"{name} " + ("once" if n == 1 else f"{n:,} times") for name, n in counts.items() if n
    )
