"""A place in words that a bug report can hold: which tokens, which block, who wrote them.

One rule: who wrote a row is read off what the server says it had cached, turn by turn.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from engine.probe.codes import symbol
from engine.text.tokenizer import ASSISTANT, EOS, decode
from lab.placing.shown import MANUAL, REPLY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.placing.places import Place
    from lab.placing.shown import Context
    from lab.records import ArmHistory, Reply

NAMED = 2  # sources that are told, where a token has more
SIZES = ("block_size", "page_size")  # toggles of profiles: tokens in a block


def placed(place: Place, context: Context, reply: Reply, known: Known) -> str:
    """Which part of the context token ``place.index`` should have been made of."""
    told = [known.source(at, context, reply) for at in place.sources[:NAMED]]
    more = len(place.sources) - len(told)
    what = _what(place, context)
    if not told:
        what += ", which is not there"
    which = " or, alike, ".join(told) + (f" and {more} more" if more else "")
    first, end = place.window
    near = f"; it also reads its last tokens, from {first:,} to {end - 1:,}"
    own = near if first < len(context.ids) else ""
    return f"token {place.index:,} {what} {which}".rstrip() + own


def made_anew(place: Place, context: Context, due: Sequence[int], got: int) -> bool:
    """Whether the wrong token is the symbol that this turn's own reference makes there."""
    ref = _reference(context)
    before = [*context.ids, *due[: place.index]]
    return bool(place.sources) and not place.made and ref != "" and got == symbol(ref, before)


class Known:
    """What an arm tells of its blocks and of its cache; ``replies`` are by session and turn."""

    def __init__(self, history: ArmHistory, replies: Mapping[tuple[int, int], Reply]) -> None:
        self._replies = replies
        self._told = "cached_tokens" in history.counters
        self.block = _block_tokens(history)

    def source(self, at: int, context: Context, reply: Reply) -> str:
        """One token of the context: where it stands, in which block, and who wrote its row."""
        if at >= len(context.ids):
            return f"{at:,}, of this very reply"
        block = f", block {at // self.block} of {self.block} tokens" if self.block else ""
        return f"{at:,}{block}: {_where(at, context)}, {self._writer(at, context, reply)}"

    def _writer(self, at: int, context: Context, reply: Reply) -> str:
        part = context.part(at)
        if not self._told:
            if part.kind != REPLY:
                return "written by prefill"
            return f"written by decode in turn {part.turn}, unless it was computed anew since"
        for turn in range(reply.turn, -1, -1):
            it = self._replies[reply.session, turn]
            if at >= it.prompt_tokens:
                return f"written by decode in turn {turn}"
            if at >= it.cached_tokens:
                return f"written by prefill in turn {turn}"
        return "found in the cache: written for another session"


def _what(place: Place, context: Context) -> str:
    if place.made:
        return "is made of this turn's reference for the hole at prompt token"
    parts = [context.part(at).kind for at in place.sources if at < len(context.ids)]
    if parts and all(kind == REPLY for kind in parts):
        return "repeats what an earlier reply holds at prompt token"
    return "is a copy of prompt token"


def _where(at: int, context: Context) -> str:
    """The entry or the reply that the token is of, and its number there."""
    anchor = max(i for i in range(at) if context.ids[i] == ASSISTANT)
    end = next((i for i in range(at, len(context.ids)) if context.ids[i] == EOS), at)
    part, number = context.part(at), at - anchor - 1
    of = f"reply {part.turn}"
    if part.kind == MANUAL:
        of = f"the entry of key {_key(context, anchor)}"
    return f"token {number} of {of} ({anchor + 1:,} to {end:,})"


def _key(context: Context, anchor: int) -> str:
    line = decode(context.ids[max(0, anchor - 40) : anchor])
    return line.rpartition('"key":"')[2].removesuffix('"}')


def _reference(context: Context) -> str:
    """The reference of the turn that asks last."""
    part = context.parts[-1]
    text = decode(context.ids[part.start + 1 : part.end - 1])
    try:
        return str(json.loads(text[text.index("{") :])["ref"])
    except (ValueError, KeyError):
        return ""


def _block_tokens(history: ArmHistory) -> int:
    """Tokens in a block, as the server says it, or as it was asked for; 0: not known."""
    read = {it["key"]: it for _, kind, it in history.events if kind == "setting_effective"}
    for key in SIZES:
        value = read[key]["effective"] if key in read else history.settings.get(key)
        if value is not None and str(value).isdecimal():
            return int(value)
    return 0
