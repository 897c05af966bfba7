"""What is said of arms that were driven against somebody's server: where, with which settings, how
fast its streams came, and in how many ways it failed.

One rule: times are of replies that came whole and in parts; how an exchange failed is told in the
driver's words, each kind with its number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lab.exposure import FLUSHED, FOREIGN, GENERATOR, is_foreign
from lab.report.endings import errors
from lab.report.section import Section

if TYPE_CHECKING:
    from lab.records import ArmHistory, Reply

NOTHING = "–"
TOLD = ("asked and different", "not read", "caches before", "our loop's lag")
TIMES = ("TTFT p50", "TTFT p99", "gap mean", "gap p50", "gap p99", "longest gap")


def servers(histories: Sequence[ArmHistory]) -> list[Section]:
    """Three tables of a run's foreign arms, each only where there is something to tell."""
    arms = [history for history in histories if is_foreign(history)]
    failed = [(arm.name, str(n), how) for arm in arms for how, n in errors(arm, most=None).items()]
    sections = [
        Section(
            "Servers",
            ("arm", "server", "boot", "model", *TOLD),
            tuple((arm.name, *_server(arm)) for arm in arms),
        ),
        Section(
            "Streams, ms",
            ("arm", "streams", *TIMES),
            tuple((arm.name, *_times(arm)) for arm in arms if _streams(arm)),
        ),
        Section("Exchanges that failed", ("arm", "times", "how"), tuple(failed)),
    ]
    return [section for section in sections if section]


def unread(arm: ArmHistory) -> list[str]:
    """The settings that were asked for and that the arm's server does not tell."""
    return [str(it["key"]) for it in _of(arm, "setting_not_read")]


def _server(arm: ArmHistory) -> tuple[str, ...]:
    where = next(fields for _, kind, fields in arm.events if kind == FOREIGN)
    differs = [
        f"{it['key']}: {it['asked']} runs as {it['effective']}"
        for it in _of(arm, "setting_not_effective")
    ]
    lags = [f"p99 {it['lag_p99_us'] / 1e3:.1f} ms" for it in _of(arm, GENERATOR)]
    caches = ["flushed" if it["done"] else "not flushed" for it in _of(arm, FLUSHED)]
    told = (", ".join(differs), ", ".join(unread(arm)), "".join(caches), "".join(lags))
    return (
        str(where["url"]),
        str(where["boot"] or NOTHING),
        str(where["model"]),
        *(text or NOTHING for text in told),
    )


def _times(arm: ArmHistory) -> tuple[str, ...]:
    """Of all streams together; p50 and p99 of the gaps are those of the median reply."""
    streams = _streams(arm)
    first = sorted((r.first_token_s - r.sent_s) * 1e3 for r in streams if r.first_token_s)
    gaps = [reply.gaps_ms for reply in streams if reply.gaps_ms]
    number = sum(it["n"] for it in gaps)
    values = [rank(first, 0.5), rank(first, 0.99)]
    if number:
        values += [sum(it["mean"] * it["n"] for it in gaps) / number]
        values += [rank(sorted(it[key] for it in gaps), 0.5) for key in ("p50", "p99")]
        values += [max(it["max"] for it in gaps)]
    told = [f"{value:.1f}" for value in values]
    return (str(len(streams)), *told, *[NOTHING] * (len(TIMES) - len(told)))


def _streams(arm: ArmHistory) -> list[Reply]:
    return [r for r in arm.replies if r.status == "ok" and r.last_token_s is not None]


def _of(arm: ArmHistory, wanted: str) -> list[Mapping[str, Any]]:
    return [fields for _, kind, fields in arm.events if kind == wanted]


def rank(ordered: Sequence[float], part: float) -> float:
    """The value below which that part of the ordered ones is; 0 of none."""
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0.0
