"""What `kvlab bench bisect` compares: the worlds, a cell each, and who searches them.

One rule: every contender of a cell meets the same worlds, drawn from the seed and the cell's name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from lab.bisect.methods.bayes import bayes
from lab.bisect.methods.ddmin import ddmin, ddmin_wald
from lab.bisect.methods.ofat import ofat, ofat_clean
from lab.bisect.methods.quickxplain import quickxplain
from lab.bisect.worlds import SimulatedWorld
from lab.errors import UserError

if TYPE_CHECKING:
    from lab.bisect.methods import Method

TOGGLES = tuple("abcdefghij")
SIZES = (1, 2, 3)  # of the culprit set


@dataclass(frozen=True)
class Contender:
    """A method with its settings. ``told`` methods know both rates and pay for no phase 0."""

    name: str  # as `--methods` takes it
    label: str
    method: Method
    told: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)  # of `Parameters`


@dataclass(frozen=True)
class Group:
    """Cells of one table: ``rates`` by ``SIZES``, in worlds that differ from others in one thing.

    ``factor`` is what each of two innocent toggles, where bad, multiplies the rate by. ``share`` is
    the part of the worlds that is run, for searches that take long.
    """

    name: str
    title: str
    contenders: tuple[Contender, ...]
    rates: tuple[float, ...] = (0.17,)
    p0: float = 0.0
    rho: float = 0.0
    batch_sessions: int = 1
    factor: float = 1.0
    share: float = 1.0

    def world(self, seed: int, p1: float, k: int, index: int) -> SimulatedWorld:
        """World ``index`` of one cell: its culprits, its innocents and its draws."""
        draw = np.random.default_rng([seed, crc32(f"{self.name} {p1} {k}".encode()), index])
        order = [str(key) for key in draw.permutation(TOGGLES)]
        weakening = order[k : k + 2] if self.factor < 1 else ()
        return SimulatedWorld(
            TOGGLES,
            frozenset(order[:k]),
            p1=p1,
            p0=self.p0,
            rho=self.rho,
            attenuate=dict.fromkeys(weakening, self.factor),
            seed=int(draw.integers(2**31)),
            batch_sessions=self.batch_sessions,
        )


OFAT = Contender("ofat", "ofat 60, a clean arm", ofat_clean, told=True)
FISHER = Contender("ofat-fisher", "ofat 60, Fisher .05", ofat, told=True)
DDMIN = Contender("ddmin", "ddmin, fixed n", ddmin, told=True)
WALD = Contender("ddmin-wald", "ddmin, Wald", ddmin_wald, told=True)
QUICK = Contender("quickxplain", "QuickXplain at .001", quickxplain, told=True)
PLAIN = Contender("bayes-plain", "bayes, plain", bayes, settings={"attenuation": False})
BAYES = Contender("bayes", "bayes, attenuation", bayes)
UNSURE = Contender(
    "bayes-unsure", "bayes, p0 unknown", bayes, settings={"attenuation": False, "exact": False}
)
BOTH = (PLAIN, BAYES)
BY_HAND = (OFAT, FISHER, DDMIN, WALD, QUICK)
UNAWARE = Contender("ddmin", "ddmin, told p0 = 0", ddmin, told=True, settings={"exact": True})


def _by(unit: str, each: Contender, what: str) -> Contender:
    settings = {**each.settings, "unit": unit}
    return Contender(each.name, f"{each.label}, {what}", each.method, settings=settings)


GROUPS = (
    Group("rates", "background 0", (*BY_HAND, *BOTH, UNSURE), rates=(0.47, 0.17, 0.06)),
    Group("background", "background .5 %", (OFAT, FISHER, UNAWARE, *BY_HAND[2:], *BOTH), p0=0.005),
    Group(
        "boots",
        "boots of 6 sessions, rho = .2",
        tuple(
            _by(unit, each, what)
            for each in BOTH
            for unit, what in (("session", "by session"), ("boot", "by boot"), ("auto", "auto"))
        ),
        rho=0.2,
        batch_sessions=6,
    ),
    Group("halved", "two innocent toggles that halve it", BOTH, factor=0.5),
    Group("quartered", "two innocent toggles that quarter it", BOTH, factor=0.25),
    Group("rare", "background .5 %", (WALD, *BOTH), rates=(0.02,), p0=0.005, share=0.1),
)


def selected(methods: Sequence[str], quick: bool) -> tuple[Group, ...]:
    """The groups, with the contenders that were asked for; ``quick``: the first, at one rate."""
    known = list(dict.fromkeys(each.name for group in GROUPS for each in group.contenders))
    for name in methods:
        if name not in known:
            raise UserError(f"--methods: there is no {name!r}; accepted: {', '.join(known)}")
    groups = []
    for group in GROUPS[:1] if quick else GROUPS:
        kept = tuple(c for c in group.contenders if not methods or c.name in methods)
        if kept:
            rates = (0.17,) if quick else group.rates
            groups.append(replace(group, contenders=kept, rates=rates))
    return tuple(groups)
