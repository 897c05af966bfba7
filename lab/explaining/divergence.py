"""The first wrong token of a reply. One rule: tokens are those of the engine's own tokenizer.

A token is a byte or a special, so a letter of several bytes may go wrong in its middle; quotes
around the place begin at a whole letter.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from engine.text.tokenizer import SPELLING, decode, encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.records import Reply

AROUND = 16  # tokens quoted on either side
END = "the end of the reply"


@dataclass(frozen=True)
class Divergence:
    """Token ``index`` (0 = first) of the reply, ``position`` in the request's context, and what
    stands around it: ``before`` is right in both.
    """

    index: int
    position: int
    expected: str
    got: str
    before: str
    expected_after: str
    got_after: str
    tokens: int  # of the reply, without its end
    different: int  # of them, place by place


def first_wrong(reply: Reply) -> Divergence | None:
    """Where the raw text leaves the expected one; None where it does not, or is not known."""
    if reply.raw_text is None or not reply.expected_text or reply.raw_text == reply.expected_text:
        return None
    got, due = _ids(reply.raw_text), _ids(reply.expected_text)
    pairs = list(zip_longest(got, due))
    unlike = [at for at, (one, other) in enumerate(pairs) if one != other]
    if not unlike:
        return None
    at = unlike[0]
    start = _letter(due if at < len(due) else got, at)
    return Divergence(
        index=at,
        position=reply.prompt_tokens + at,
        expected=_token(due, at),
        got=_token(got, at),
        before=decode(due[_letter(due, max(0, start - AROUND)) : start]),
        expected_after=decode(due[start : _letter(due, at + AROUND)]),
        got_after=decode(got[start : _letter(got, at + AROUND)]),
        tokens=len(got),
        different=len(unlike),
    )


def _ids(text: str) -> list[int]:
    return encode(text.encode("utf-8", "backslashreplace").decode("utf-8"))


def _token(ids: Sequence[int], at: int) -> str:
    """A token as text: a special's spelling, a printable character, or the byte."""
    if at >= len(ids):
        return END
    token = ids[at]
    if token in SPELLING:
        return SPELLING[token]
    plain = chr(token)
    return repr(plain) if token < 128 and plain.isprintable() else f"byte 0x{token:02X}"


def _letter(ids: Sequence[int], at: int) -> int:
    """The start of the letter that token ``at`` is a byte of."""
    while 0 < at < len(ids) and 0x80 <= ids[at] < 0xC0:
        at -= 1
    return at
