"""What a conclusion promises, and how a search that was refuted goes on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lab.bisect.conclusion import Arm, Conclusion, Discovery, Role, Verdict
from lab.bisect.confirm import Confirmation
from lab.bisect.guarantees import guarantee
from lab.bisect.methods import METHODS
from lab.bisect.notebook import Notebook
from lab.bisect.search import ROUNDS, _Search
from lab.bisect.space import Config
from lab.bisect.trials import Tally, Unit
from tests.lab.bisect.test_search import PARAMS, SPACE, found, world


def conclusion(verdict: Verdict, **more: Any) -> Conclusion:
    """One of that verdict."""
    return Conclusion(verdict, "", Unit.SESSION, "bayes", **more)


def test_a_confirmed_verdict_says_what_rests_on_a_model_and_what_does_not() -> None:
    said = guarantee(found(world()), PARAMS)
    assert said[0].startswith("Discovery rests on a model")
    assert "no model but independent sessions: on fresh seeds, over all rounds" in said[1]
    assert "at most 1 % of cases end with a set that can spare a toggle" in said[1]
    assert "where overlap, pd, queue_size, concurrency are bad; alone it suffices" in said[2]
    assert "one at a time" in said[3]
    assert "An innocent toggle is not needed" in said[4]


def test_the_printed_error_counts_aggravating_toggles_and_a_checker_that_errs() -> None:
    keys = ("a", "b", "c", "d")
    arms = tuple(Arm(f"without {key}", Config(), Tally(9, 0), e_value=400.0) for key in keys[:3])
    said = conclusion(
        Verdict.CONFIRMED,
        culprits=("a", "c"),
        roles=dict(zip(keys, [Role.NECESSARY, Role.AGGRAVATING] * 2, strict=True)),
        arms=(Arm("all", Config(), Tally(9, 3)), *arms),
        sufficient=True,
    )
    assert "at most 2 % of cases" in guarantee(said, PARAMS)[1]
    assert "at most 2.25 % of cases" in guarantee(said, replace(PARAMS, exact=False))[1]


def test_every_other_verdict_says_how_far_it_goes() -> None:
    said = {verdict: guarantee(conclusion(verdict), PARAMS)[0] for verdict in Verdict}
    assert "2 % of the sessions or more" in said[Verdict.NOT_REPRODUCED]
    assert "backgrounds of 1 % or less" in said[Verdict.NOT_CONTROLLED]
    assert "Nothing is concluded about any toggle" in said[Verdict.UNDETERMINED]
    assert "could not have shown it" in said[Verdict.INVALID]
    assert "Nothing is said of corruption" in said[Verdict.LIVENESS]
    exact = conclusion(Verdict.NOT_CONTROLLED, good=Tally(5, 1))
    assert "The checker is exact: one corrupt reply" in guarantee(exact, PARAMS)[0]
    assert "one broken invariant" in guarantee(exact, replace(PARAMS, outcome="violated"))[0]
    assert "1 % or less" in guarantee(exact, replace(PARAMS, exact=False))[0]
    left = conclusion(Verdict.UNDETERMINED, candidates=(("pd",),), posterior=0.6)
    assert "99 % of cases at every look, provided that there is one" in guarantee(left, PARAMS)[0]
    reached = replace(left, posterior=0.0, method="ddmin")
    assert guarantee(reached, PARAMS)[0].startswith("Discovery by ddmin bounds nothing")
    believed = conclusion(Verdict.NOT_CONTROLLED, posterior=0.99)
    assert "rests on a model, not on a test" in guarantee(believed, PARAMS)[0]
    suspect = conclusion(Verdict.SUSPECT, culprits=("pd",))
    assert guarantee(suspect, PARAMS)[-1] == "It has not been confirmed."


def test_confirmations_share_alpha_whatever_their_number() -> None:
    of = _Search(Notebook(world(), 9), SPACE, PARAMS, conclusion(Verdict.SUSPECT), {}, print)
    shares = [of._of_turn(turn).alpha for turn in range(ROUNDS)]
    assert sum(shares) == pytest.approx(PARAMS.alpha)
    assert shares[0] == 0.9 * PARAMS.alpha


def test_what_is_refuted_is_sought_in_less_than_its_context() -> None:
    """The arm of the whole context, the most corrupt of all, teaches nothing new."""
    context = ("index_k", "graph", "overlap")
    without = Config(frozenset({"index_k", "overlap"}))
    arms = (
        Arm("all", Config(frozenset(context)), Tally(20, 9), lower=0.2),
        Arm("without graph", without, Tally(20, 6), lower=0.005),
        Arm("without index_k", Config(frozenset({"graph", "overlap"})), Tally(20, 0)),
    )
    refuted = Confirmation(arms, {}, None, Verdict.UNDETERMINED, "not lower")
    for exact in (True, False):
        params = replace(PARAMS, exact=exact)
        of = _Search(Notebook(world(), 9), SPACE, params, conclusion(Verdict.SUSPECT), {}, print)
        left = of._left(SPACE, Discovery(("graph",), context), refuted)
        assert left.toggles == ("index_k", "overlap")


def test_what_is_given_up_with_a_budget_left_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    stubborn = Discovery(("pd",), SPACE.toggles)
    monkeypatch.setattr(METHODS, "all", lambda: {"bayes": lambda *asked: stubborn})
    said = found(world(frozenset({"graph"})))
    assert said.verdict is Verdict.UNDETERMINED
    assert f"given up, for nothing else was learnt, with {said.spent} of 3000" in said.reason
