"""What the probe answers: an entry's reply, its holes filled with the symbols of who asks.

One rule: integers only. A client knows every byte of every reply without running a network.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.probe.codes import HOLE, ref_bits, symbol
from engine.probe.text import Entry, request
from engine.text.tokenizer import ASSISTANT, decode, encode


def reply(entry: Entry, ref: str) -> str:
    """The reply to the entry's key where ``ref`` is the first that asks for it; without EOS."""
    ids = [*encode(request(ref, entry.key)), ASSISTANT]
    said = len(ids)
    for token in encode(entry.reply):
        ids.append(symbol(ref, ids) if token == ord(HOLE) else token)
    return decode(ids[said:])


def symbols(entry: Entry, ref: str) -> str:
    """The second value of that reply."""
    before, after = entry.reply.split(HOLE * entry.holes)
    return reply(entry, ref).removeprefix(before).removesuffix(after)


def differs(ref: str, others: Iterable[str]) -> bool:
    """Whether ``ref`` would fill holes otherwise than each of the ``others``."""
    return ref_bits(ref) not in {ref_bits(other) for other in others}
