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
    if params.exact and conclusion.good and conclusion.good.corrupt:
        return "The checker is exact: one corrupt reply with every toggle good is enough."
    return (
        f"At most {_percent(params.alpha)} of backgrounds of {_percent(params.p_tol)} or less are"
        f" called uncontrolled, given independent {conclusion.unit.value}s."
    )


def _undetermined(conclusion: Conclusion, params: Parameters) -> str:
    if not conclusion.candidates:
        return "Nothing is concluded about any toggle."
    return (
        f"The sets that are left hold the culprit in at least {_percent(1 - params.alpha)} of"
        f" cases at every look, provided that it has at most {params.most} toggles."
    )


def _discovered(conclusion: Conclusion, params: Parameters) -> str:
    if conclusion.posterior:
        return (
            f"Discovery rests on a model: averaged over its prior, at most {_percent(params.alpha)}"
            " of its verdicts are wrong."
        )
    return f"Discovery by {conclusion.method} bounds single tests, not the set that they lead to."


def _confirmed(conclusion: Conclusion, params: Parameters) -> tuple[str, ...]:
    arms = len(conclusion.culprits) + 1
    sentences = [
        f"Confirmation rests on no model but independent {conclusion.unit.value}s: its {arms}"
        f" comparisons, on fresh seeds, together err in at most {_percent(params.alpha)} of cases.",
        _minimal(conclusion),
        "Causes that each suffice are found one at a time: fix this one and bisect again.",
    ]
    if Role.AGGRAVATING in conclusion.roles.values():
        sentences.append("An aggravating toggle changes the rate; it is not part of the cause.")
    if conclusion.thresholds:
        sentences.append(
            "A bracket rests on the model of discovery, and says nothing of levels in between."
        )
    return tuple(sentences)


def _minimal(conclusion: Conclusion) -> str:
    if not conclusion.context:
        return "No toggle of the set can be left out."
    context = ", ".join(conclusion.context)
    if conclusion.sufficient:
        return f"No toggle of the set can be left out where {context} are bad; alone it suffices."
    return (
        f"No toggle of the set can be left out where {context} are bad;"
        " whether it suffices without them is not shown."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
