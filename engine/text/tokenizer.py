"""Byte-level tokenizer with special tokens: ids 0..255 are bytes, 256..271 are specials.

One rule: ``decode(encode(text)) == text`` for every text that UTF-8 can carry. The other way round
is exact only for ids whose byte runs are valid UTF-8 and spell no special by accident, so whoever
needs a reply exactly keeps its ids.

Spellings follow DeepSeek-V3/V4 (U+FF5C bars, U+2581 for spaces); ``｜DSML｜`` is one token.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from itertools import groupby

BOS, EOS, USER, ASSISTANT, TOOL, THINK, END_THINK, DSML = range(256, 264)
VOCAB_SIZE = 272

SPELLING: dict[int, str] = {
    BOS: "<｜begin▁of▁sentence｜>",
    EOS: "<｜end▁of▁sentence｜>",
    USER: "<｜User｜>",
    ASSISTANT: "<｜Assistant｜>",
    TOOL: "<｜Tool｜>",
    THINK: "<think>",
    END_THINK: "</think>",
    DSML: "｜DSML｜",
}
# A damaged model may say a spare id, and its reply must still be text that encodes back.
SPELLING |= {
    spare: f"<｜place▁holder▁no▁{spare - DSML - 1}｜>" for spare in range(DSML + 1, VOCAB_SIZE)
}

_IDS = {spelling: special for special, spelling in SPELLING.items()}
_SPLIT = re.compile("(" + "|".join(re.escape(spelling) for spelling in _IDS) + ")")


def encode(text: str, *, specials: bool = True) -> list[int]:
    """Token ids of ``text``; with ``specials`` a special's spelling is that one token.

    Without, every character is plain bytes, so the text cannot inject a special token.
    Raises UnicodeEncodeError on lone surrogates, which no UTF-8 carries.
    """
    if not specials:
        return list(text.encode())
    ids: list[int] = []
    for index, part in enumerate(_SPLIT.split(text)):
        if index % 2:  # re.split puts the captured spelling at every odd place
            ids.append(_IDS[part])
        else:
            ids.extend(part.encode())
    return ids


def decode(ids: Iterable[int]) -> str:
    """Text of ``ids``, specials spelled out; a byte run that is not UTF-8 reads U+FFFD.

    Raises KeyError for an id outside the vocabulary.
    """
    return "".join(
        bytes(run).decode(errors="replace") if plain else "".join(SPELLING[i] for i in run)
        for plain, run in groupby(ids, key=lambda i: 0 <= i < BOS)
    )


class Decoder:
    """Incremental ``decode``: what ``feed`` and ``finish`` return adds up to the one-shot text.

    A character comes out whole: the bytes of an unfinished one wait for the next token.
    """

    def __init__(self) -> None:
        self._utf8 = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def feed(self, token: int) -> str:
        """Text that this token completes, often a single character and sometimes none."""
        if 0 <= token < BOS:
            return self._utf8.decode(bytes((token,)))
        return self._utf8.decode(b"", final=True) + SPELLING[token]

    def finish(self) -> str:
        """Text of the bytes still waiting, as U+FFFD."""
        return self._utf8.decode(b"", final=True)
