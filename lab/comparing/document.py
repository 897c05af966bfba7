"""The comparison of two runs as one JSON document: what the table and the sentence are made of.

One rule: A is the older word and B the newer one: every difference is B minus A. Both are judged by
the same rules: a run that was judged by older ones is judged anew, in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any

from lab.comparing.arms import Shown, Tested, arms_of, matched, partners, shows, tested
from lab.comparing.latency import quantiles
from lab.comparing.sentence import sentence
from lab.ended import verdict_of
from lab.errors import UserError
from lab.judging import judge_run
from lab.records import NO_DIGEST
from lab.report.origin import origin
from lab.stats import holm

if TYPE_CHECKING:
    from lab.records import ArmVerdict, RunVerdict
    from lab.repeats import Repeated
    from lab.store import Results, StoredRun

PATIENT = ("wall_s", "virtual_s")
# Of a pair in which an arm has no session that shows anything: nothing is tested, or corrected for.
UNTESTED: dict[str, Any] = dict.fromkeys(field.name for field in fields(Tested))


def compare(results: Results, a: str, b: str) -> dict[str, Any]:
    """Run ``b`` held against run ``a``, by their whole ids; raises ``UserError``."""
    if a == b:
        raise UserError(f"{a} is both runs; name two, such as `kvlab compare last~1 last`")
    stored = results.run(a), results.run(b)
    verdicts = judged(results, a), judged(results, b)
    pairs, only_a, only_b = matched(arms_of(verdicts[0]), arms_of(verdicts[1]))
    changed = changes(*stored)
    same_load = not {"seed", "workload"} & changed.keys()
    many = sum(shows(*pair) for pair in pairs)
    told = [_pair(results, verdicts, pair, same_load, many) for pair in pairs]
    known = [arm for arm in told if arm["test"] is not None]
    for arm, p in zip(known, holm([arm["p_value"] for arm in known]), strict=True):
        arm["p_holm"] = p
    document = {
        "a": _about(stored[0], verdicts[0]),
        "b": _about(stored[1], verdicts[1]),
        "changed": changed,
        "judged_anew": [run for run in (a, b) if verdict_of(results, run).older_rules],
        "arms": told,
        "only_in_a": [arm.arm.name for arm in only_a],
        "only_in_b": [arm.arm.name for arm in only_b],
        "same_history": _same(told) if not only_a and not only_b else False,
    }
    return {"answer": sentence(document), **document}


def judged(results: Results, run: str) -> RunVerdict:
    """What is concluded of a stored run, by the rules of this kvlab; nothing is stored."""
    verdict = verdict_of(results, run)
    if not verdict.older_rules:
        return verdict
    stored = results.run(run)
    histories = results.histories(run)
    found, _ = judge_run(run, stored.scenario, stored.seed, histories, None, stored.asked)
    return replace(found, incomplete=verdict.incomplete)


def _about(stored: StoredRun, verdict: RunVerdict) -> dict[str, Any]:
    return {
        "run": stored.id,
        "scenario": stored.scenario,
        "seed": stored.seed,
        "started_at": f"{stored.started_at.isoformat(timespec='seconds')}Z",
        "status": stored.status.value,
        "incomplete": verdict.incomplete or None,
    }


def changes(a: StoredRun, b: StoredRun) -> dict[str, Any]:
    """What is not the same in how the runs were made, each as [of A, of B]."""
    one, other = origin(a), origin(b)
    sides = {
        "scenario": (a.scenario, b.scenario),
        "seed": (a.seed, b.seed),
        "build": (list(one.build), list(other.build)),
        "workload": (one.workload, other.workload),
        "command": (one.command, other.command),
    }
    found: dict[str, Any] = {key: list(pair) for key, pair in sides.items() if pair[0] != pair[1]}
    versions = unlike(one.versions, other.versions)
    return found | ({"versions": versions} if versions else {})


def unlike(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The keys whose values differ, each with both; None where a side has none."""
    keys = dict.fromkeys((*a, *b))
    return {key: [a.get(key), b.get(key)] for key in keys if a.get(key) != b.get(key)}


def _pair(
    results: Results,
    verdicts: tuple[RunVerdict, RunVerdict],
    pair: tuple[Repeated, Repeated],
    same_load: bool,
    arms: int,
) -> dict[str, Any]:
    a, b = pair
    runs = verdicts[0].run, verdicts[1].run
    one, other = (
        _shown(results, run, arm.arm.name) if same_load else None
        for run, arm in zip(runs, pair, strict=True)
    )
    found = asdict(tested(a, b, one, other, arms)) if shows(a, b) else UNTESTED
    same = _digests(a.arm, b.arm) if len(a.parts) == len(b.parts) == 1 else None
    return {
        "name": a.arm.name,
        **({"name_in_b": b.arm.name} if b.arm.name != a.arm.name else {}),
        "a": _side(a),
        "b": _side(b),
        **found,
        "p_holm": None,
        "settings": unlike(a.arm.settings, b.arm.settings),
        "exposure": unlike(a.arm.exposure, b.arm.exposure),
        "violations": unlike(a.arm.seen, b.arm.seen),
        "outcomes": unlike(a.arm.outcomes, b.arm.outcomes),
        "missed": unlike(a.arm.missed, b.arm.missed),
        "same_history": same,
        "latency": {} if same else _times(results, runs, pair, one, other),
    }


def _times(
    results: Results,
    runs: tuple[str, str],
    pair: tuple[Repeated, Repeated],
    one: Shown | None,
    other: Shown | None,
) -> dict[str, Any]:
    """Quantiles of the whole replies' times, by what is timed."""
    a, b = (
        results.reply_times(run, [part.name for part in arm.parts])
        for run, arm in zip(runs, pair, strict=True)
    )
    alike = partners(one.asked, other.asked) if one and other else set()
    single = len(pair[0].parts) == len(pair[1].parts) == 1
    asked = {(0, session) for session in alike} if single else set()
    return {name: quantiles(a[name], b[name], asked) for name in a}


def _shown(results: Results, run: str, arm: str) -> Shown:
    return Shown(results.session_outcomes(run, arm), results.session_loads(run, arm))


def _side(arm: Repeated) -> dict[str, Any]:
    found = arm.arm
    return {
        "sessions": found.sessions_judged,
        "sessions_corrupt": found.sessions_corrupt,
        "sessions_missed": found.sessions_missed,
        "rate": found.rate,
        "ci95": list(found.ci95),
        "replies_due": found.replies_due,
        "unfinished": found.unfinished,
        "verdict": found.verdict,
        "boots": len(arm.parts),
        "history_digest": found.history_digest,
        **{name: getattr(found, name) for name in PATIENT},
    }


def _digests(a: ArmVerdict, b: ArmVerdict) -> bool | None:
    """Whether two histories are one, event for event; None by a wall clock, where none is."""
    if NO_DIGEST in (a.history_digest, b.history_digest):
        return None
    return a.history_digest == b.history_digest


def _same(arms: list[dict[str, Any]]) -> bool | None:
    told = [arm["same_history"] for arm in arms]
    return None if not told or None in told else all(told)
