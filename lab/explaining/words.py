"""An explanation in words that a bug report can hold. One rule: plain lines, the same every time.

Each line is one step of the chain under its heading, and says only what an event, a counter or a
text of the stored run says; what nobody recorded is said to be unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.copies import stored_geometry
from lab.explaining import rows
from lab.explaining.damage import ROWS
from lab.explaining.innocent import no_wrong_row
from lab.explaining.lines import Quote
from lab.explaining.placed import fault_says, should_have_read
from lab.explaining.timeline import NS
from lab.explaining.writers import clocked, seconds, writer
from lab.exposure import ALWAYS_SAID
from lab.mismatches import mismatches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.explaining.damage import Damage
    from lab.explaining.divergence import Divergence
    from lab.explaining.explanation import Explanation

INDENT = "  "
SWITCHES = ("index_k", "graph", "overlap", "radix", "hicache", "hisparse", "pd", "concurrency")
Section = tuple[str, list[str]]  # a heading, and sentences


def said(it: Explanation) -> list[str]:
    """Every line, a sentence each, as long as it is."""
    lines = [head(it)]
    for heading, sentences in sections(it):
        lines.append(f"{heading}:")
        lines += [type(each)(f"{INDENT}{each}") for each in sentences]
    return lines


def head(it: Explanation) -> str:
    """Whose reply, and which judge fired."""
    reply = it.reply
    request = f", request {it.request} ({reply.request_id})" if it.request else ""
    judges = ", ".join(dict.fromkeys(found.detector for found in it.case.failed))
    where = f'arm "{it.history.name}", session {reply.session}, turn {reply.turn}'
    return f"{where}{request}: {it.kind} ({judges})"


def sections(it: Explanation) -> list[Section]:
    """The chain, a heading a step; those that have nothing to say are left out."""
    found: list[Section] = [
        ("first wrong token", _token(it)),
        ("what it should have read", should_have_read(it)),
        ("what the fault of the build says", fault_says(it)),
    ]
    if it.effect is None or it.how == "arm" or it.effect.role not in ROWS:
        found.append(("no wrong row was read", no_wrong_row(it)))
    if it.effect is not None:
        found += [
            ("what it read", rows.what_it_read(it)),
            ("who wrote it", rows.who_wrote(it)),
            ("whose row it was", rows.whose(it)),
            ("what should have ordered them", rows.missing_edge(it)),
            ("the question that allowed it", _questions(it)),
            ("one after the other", _steps(it)),
            ("how often in this arm", _often(it)),
        ]
    found.append(("what the arm went through", _exposure(it)))
    return [(heading, sentences) for heading, sentences in found if sentences]


def _token(it: Explanation) -> list[str]:
    wrong = it.wrong
    if wrong is None:
        if it.reply.raw_text is None:
            return ["unknown: the server gave no raw text of this reply."]
        if not it.reply.expected_text:
            return ["unknown: nobody knows what this reply had to say."]
        return ["none: the raw text is the expected one."]
    differ = "1 token differs" if wrong.different == 1 else f"{wrong.different:,} tokens differ"
    where = f"position {wrong.position:,} of the context"
    return [
        f"token {wrong.index:,} of {wrong.tokens:,} (0 = first) is {wrong.got} instead of "
        f"{wrong.expected}, at {where}; {differ}, place by place.",
        *_quotes(wrong),
    ]


def _quotes(wrong: Divergence) -> list[str]:
    before = ("..." if wrong.index > len(wrong.before) else "") + _flat(wrong.before)
    return [
        Quote(f"expected  {before}[here]{_flat(wrong.expected_after)}"),
        Quote(f"came      {before}[here]{_flat(wrong.got_after)}"),
    ]


def _questions(it: Explanation) -> list[str]:
    if not it.questions:
        return ["none is known for this kind of damage."]
    told = [f"{q.seam}: {q.asks} Healthy code ({q.healthy}): {q.answers}" for q in it.questions]
    if len(told) > 1:
        told[1:] = [f"or {each}" for each in told[1:]]
        told.append(
            "The evidence cannot tell which of them."
            if it.vague
            else "Each of them is a guard against this: one was answered wrongly, or all."
        )
    if it.elsewhere:
        told.append(f"Other rows that it read point at: {', '.join(it.elsewhere)}.")
    return told


def _steps(it: Explanation) -> list[str]:
    """The violations of the chain by their names, the root first."""
    assert it.chain is not None
    links = sorted(it.chain.links, key=lambda link: link.order)
    told = [
        f"{seconds(link.at_ns)}  {link.name}" + (f" ({by})" if (by := _actor(link)) else "")
        for link in links
    ]
    if it.reached_ns is not None:
        told.append(f"{seconds(it.reached_ns)}  the first wrong token is there, at the latest")
    if it.reply.done_s is not None:
        told.append(f"{seconds(round(it.reply.done_s * NS))}  the reply's end")
    if not it.chain.sure:
        told.append(
            "The first of them is joined by its pool or by the number of a copy alone: that it hit "
            "the very row that was read is not recorded."
        )
    return told


def _actor(damage: Damage) -> str:
    """Beside a read its reader, beside all else its writer; empty where nothing says so."""
    if damage.role != "read":
        return writer(damage, when=False)
    request = damage.number("request")
    reader = damage.text("reader") or (f"request {request}" if request else "")
    return f"read by {clocked(reader)}" if reader else ""


def _often(it: Explanation) -> list[str]:
    spread, root = it.spread, it.root
    assert spread is not None and root is not None
    times = "once" if spread.occurrences == 1 else f"{spread.occurrences:,} times"
    events = "1 event" if spread.events == 1 else f"{spread.events:,} events"
    told = [f"{root.name} was seen {times}, in {events}."]
    if spread.readers:
        of = f", of {_count(spread.sessions, 'other session')}" if spread.sessions else ""
        told.append(
            f"The same page was read wrongly by {_count(spread.readers, 'other request')}{of}, "
            "after it and before the page was handed on."
        )
    return told


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}" + ("" if n == 1 else "s")


def _exposure(it: Explanation) -> list[str]:
    history = it.history
    moved = {name: history.counters.get(name, 0) for name in ALWAYS_SAID}
    told = ", ".join(f"{name} {n:,}" for name, n in moved.items() if n) or "nothing that is counted"
    settings = history.settings
    on = ", ".join(f"{key} {_setting(settings[key])}" for key in SWITCHES if key in settings)
    return [f"{told}.", *([f"settings: {on}."] if on else []), *_unlike(it)]


def _unlike(it: Explanation) -> list[str]:
    found: Sequence[str] = mismatches(stored_geometry(it.history))
    return [f"pools that are not alike: {'; '.join(found)}."] if found else []


def _setting(value: object) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def _flat(text: str) -> str:
    """Text on one line, without what a terminal would obey."""
    return "".join(
        char if char.isprintable() else f"\\x{ord(char):02x}" for char in text.replace("\n", "⏎")
    )
