"""What the ledger saw, and one wrong reply from its first wrong token back to the cause.

One rule: the words are `kvlab explain`'s own; here they only get headings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from lab.explaining.choosing import Inquiry, best, gravest
from lab.explaining.lines import Quote
from lab.explaining.words import head, sections
from lab.report.html.elements import bullets, joined, table, tag

if TYPE_CHECKING:
    from lab.records import ArmHistory, ArmVerdict, Finding
    from lab.report.html.known import Known

NOTHING = "No violation and no fault in any arm."
NO_LEDGER = "Nobody keeps a ledger in somebody else's server: only what came back was judged."


def ledger(arms: Sequence[ArmVerdict], says: Known, foreign: bool = False) -> Markup:
    """One row a violation or fault: what it means, and how often each arm saw it.

    ``foreign`` says that every arm was driven against somebody else's server.
    """
    names = dict.fromkeys(name for arm in arms for name in arm.seen)
    if not names:
        return tag("p", NO_LEDGER if foreign else NOTHING)
    meaning = says.meaning()
    rows = [(name, meaning.get(name, "–"), _by_arm(arms, name)) for name in names]
    return table(("violation or fault", "meaning", "times, by arm"), rows, says.say)


def one_session(
    histories: Sequence[ArmHistory], findings: Mapping[str, Sequence[Finding]], says: Known
) -> Markup:
    """The reply whose evidence is most complete; nothing where no judge failed one."""
    it = best(gravest(Inquiry(arm, findings.get(arm.name, ())) for arm in histories))
    if it is None:
        return Markup()
    steps = (
        joined((tag("h3", heading.capitalize()), *_sentences(lines, says)))
        for heading, lines in sections(it)
    )
    return joined((tag("p", tag("strong", says.say(head(it)))), *steps))


def _sentences(lines: Iterable[str], says: Known) -> list[Markup]:
    """Sentences as a list; what is quoted of a reply stands as it is."""
    told = list(lines)
    quotes = [line for line in told if isinstance(line, Quote)]
    plain = bullets(says.say(line) for line in told if not isinstance(line, Quote))
    return [plain, *([tag("pre", "\n".join(quotes), tabindex="0")] if quotes else [])]


def _by_arm(arms: Sequence[ArmVerdict], name: str) -> str:
    return "; ".join(f"{arm.name}: {arm.seen[name]:,}" for arm in arms if arm.seen.get(name))
