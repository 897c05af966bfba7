"""What a conclusion promises. One rule: what a promise rests on is in the same sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.bisect.conclusion import Role, Verdict

if TYPE_CHECKING:
    from lab.bisect.conclusion import Conclusion
    from lab.bisect.parameters import Parameters


def guarantee(conclusion: Conclusion, params: Parameters) -> tuple[str, ...]:
    """One sentence for each thing that the conclusion promises, or does not."""
    verdict = conclusion.verdict
    if verdict is Verdict.NOT_REPRODUCED:
        return (_missed(conclusion, params),)
    if verdict is Verdict.NOT_CONTROLLED:
        return (_uncontrolled(conclusion, params),)
    if verdict is Verdict.LIVENESS:
        return ("Nothing is said of corruption: a target that makes no progress owes replies.",)
    if verdict is Verdict.INVALID:
        return ("Nothing is concluded: what was run could not have shown it.",)
    if verdict is Verdict.UNDETERMINED:
        return (_undetermined(conclusion, params),)
    confirmed = verdict is Verdict.CONFIRMED
    last = _confirmed(conclusion, params) if confirmed else ("It has not been confirmed.",)
    return (_discovered(conclusion, params), *last)


def _missed(conclusion: Conclusion, params: Parameters) -> str:
    units = f"{conclusion.unit.value}s"
    return (
        f"Where {_percent(params.p_min)} of the {units} or more are corrupt, that is missed in at"
        f" most {_percent(params.alpha)} of cases, given independent {units} and this load; rarer"
        " corruption is not excluded."
    )


def _uncontrolled(conclusion: Conclusion, params: Parameters) -> str:
    if conclusion.posterior:
        return (
            "That no toggle explains it rests on a model, not on a test: averaged over its prior,"
            f" it is wrong in at most {_percent(params.alpha)} of cases."
        )
    if params.exact and conclusion.good and conclusion.good.corrupt:
        one = "broken invariant" if params.outcome == "violated" else "corrupt reply"
        return f"The checker is exact: one {one} with every toggle good is enough."
    return (
        f"At most {_percent(params.alpha)} of backgrounds of {_percent(params.p_tol)} or less are"
        f" called uncontrolled, given independent {conclusion.unit.value}s."
    )


def _undetermined(conclusion: Conclusion, params: Parameters) -> str:
    if not conclusion.candidates:
        return "Nothing is concluded about any toggle."
    if not conclusion.posterior:
        return f"Discovery by {conclusion.method} bounds nothing of the sets that it did not reach."
    rates = "no background and rates" if params.exact else "a background and rates"
    return (
        f"The sets that are left hold the culprit in at least {_percent(1 - params.alpha)} of"
        f" cases at every look, provided that there is one cause of at most {params.most} toggles,"
        f" {rates} as in its model, and independent {conclusion.unit.value}s; two causes"
        " that share toggles, or a background that was not reckoned with, may exclude it."
    )


def _discovered(conclusion: Conclusion, params: Parameters) -> str:
    if conclusion.posterior:
        return (
            f"Discovery rests on a model: averaged over its prior, at most {_percent(params.alpha)}"
            " of its verdicts are wrong."
        )
    return f"Discovery by {conclusion.method} bounds single tests, not the set that they lead to."


def _confirmed(conclusion: Conclusion, params: Parameters) -> tuple[str, ...]:
    units = f"{conclusion.unit.value}s"
    sentences = [
        f"Confirmation rests on no model but independent {units}: on fresh seeds, over all rounds,"
        f" {_error(conclusion, params)} of cases end with a set that can spare a toggle. One is"
        " spared where the rate without it is a tenth of the rate seen with it, or"
        f" {_percent(params.p_tol)} of the {units}, whichever is more.",
        _minimal(conclusion),
        "Causes that each suffice are found one at a time: fix this one and bisect again.",
    ]
    if Role.AGGRAVATING in conclusion.roles.values():
        sentences.append(
            "An aggravating toggle raises the rate, and is not needed; outside the discovered set"
            " that rests on a test which does not count how configurations were chosen."
        )
    if Role.INNOCENT in conclusion.roles.values():
        sentences.append(
            "An innocent toggle is not needed: it is corrupt without it. That it changes the rate,"
            " or is part of another cause, is not excluded."
        )
    if conclusion.thresholds:
        sentences.append(
            "A bracket rests on the model of discovery, and says nothing of levels in between."
        )
    return tuple(sentences)


def _error(conclusion: Conclusion, params: Parameters) -> str:
    """Of the claim that no toggle can be left out, and that the set suffices.

    Every toggle of the discovered set has a test at alpha, and all had to pass: alpha in all
    (Berger 1982). With m that passed as aggravating, m false ones may hide so, and a further one is
    needed to be wrong: by Markov's inequality (m + 1) alpha. Where the checker may err, sufficiency
    has the e-process's share; an exact one's corrupt unit cannot be wrong.
    """
    tested = [arm.name.removeprefix("without ") for arm in conclusion.arms if arm.e_value]
    aggravating = sum(conclusion.roles.get(key) is Role.AGGRAVATING for key in tested)
    error = params.alpha * (aggravating + 1)
    if not params.exact and conclusion.sufficient:
        error += params.alpha / (len(tested) + 1)
    return f"at most {_percent(error)}"


def _minimal(conclusion: Conclusion) -> str:
    if not conclusion.context:
        return "No toggle of the set can be left out."
    without = {
        True: "alone it suffices.",
        False: "alone it does not suffice: nothing of that rate is left.",
        None: "whether it suffices without them is not shown.",
    }[conclusion.sufficient]
    context = ", ".join(conclusion.context)
    return f"No toggle of the set can be left out where {context} are bad; {without}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
