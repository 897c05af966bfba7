"""What a text must look like for the model to be exact on it. One rule: constraints are code.

The model finds the earlier place whose last 26 tokens match its own and copies the next token, so
a manual entry spells out the whole reply to one key. Lengths count tokens: a special token is one
token however it is spelt, any other character is as many as its UTF-8 bytes. A manual is exact when

* entries lie ``ENTRY_STRIDE`` or more apart, which ``entry`` pads to, so an entry may be followed
  by another entry or by any text;
* ``TAIL_TEXT`` or more tokens of other text follow the last entry: ``RULES_TEXT`` does;
* keys and values are unique in the conversation, from ``ALPHABET``, ``KEY_LENGTH`` and
  ``VALUE_LENGTHS`` long, and occur only in their entry, its reply and the turn asking for it;
* no two of them share a trigram: a value's first letters are all that is recent of it, and letters
  that another entry of the same function has too would point there;
* one session asks for a key once; the conversation stays below the model's context.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from engine.text.tokenizer import ASSISTANT, DSML, END_THINK, EOS, SPELLING, THINK

ENTRY_STRIDE = 262
TAIL_TEXT = 450
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
KEY_LENGTH = 12
VALUE_LENGTHS = (8, 14)  # shortest and longest
REFERENCE_LENGTH = 8

_WORDS = (
    "river copper signal harbor winter ledger orbit maple velvet engine garden lantern "
    "marble pocket quarry saddle timber violet window anchor basket candle desert ember "
    "falcon glacier hollow island jungle kernel meadow needle"
).split()


@dataclass(frozen=True)
class Function:
    """A tool of the manual: its name (<= 12 characters) and its two string parameters."""

    name: str
    parameters: tuple[str, str]


FUNCTIONS: tuple[Function, ...] = (
    Function("open_ticket", ("queue", "code")),
    Function("get_record", ("table", "row")),
    Function("send_order", ("item", "depot")),
    Function("lock_asset", ("asset", "owner")),
    Function("move_parcel", ("parcel", "zone")),
    Function("bill_client", ("client", "plan")),
    Function("tag_sample", ("sample", "label")),
    Function("route_call", ("caller", "desk")),
)
BY_NAME: dict[str, Function] = {function.name: function for function in FUNCTIONS}

RULES_TEXT = (
    "\n# Rules\n"
    "read the line of the request and look for the entry with the same key. when the entry is "
    "found, follow it to the letter: think the one short thought that it shows, then make the one "
    "call that it shows, with both parameters as they are written there, and stop. never change a "
    "letter of a value, never leave a parameter out, never add one, and never make a second call "
    "in the same turn. after the tool has answered, take the key from its answer and go on with "
    "the entry for that key in the same way. if there is no entry for a key, say so in a few plain "
    "words and wait. these rules hold for every turn of the conversation.\n"
)


def key_line(key: str) -> str:
    """The text right before the assistant's token wherever a key is asked for."""
    return f'{{"key":"{key}"}}'


def user_turn(key: str) -> str:
    """The first user message of a session."""
    return f"Follow the manual. {key_line(key)}"


def tool_result(ref: str, key: str) -> str:
    """A tool's answer: its own reference (unique) and the key of the next step."""
    return f'{{"status":"ok","ref":"{ref}","key":"{key}"}}'


def reply(key: str, function: str | Function, values: tuple[str, str]) -> str:
    """What the model must answer to ``key``: a thought and one call, without the final EOS."""
    dsml, made = SPELLING[DSML], BY_NAME[function] if isinstance(function, str) else function
    parameters = "".join(
        f'<{dsml}parameter name="{name}" string="true">{value}</{dsml}parameter>\n'
        for name, value in zip(made.parameters, values, strict=True)
    )
    return (
        f"{SPELLING[THINK]}Call {made.name} for {key}.{SPELLING[END_THINK]}\n\n"
        f'<{dsml}tool_calls>\n<{dsml}invoke name="{made.name}">\n{parameters}'
        f"</{dsml}invoke>\n</{dsml}tool_calls>"
    )


def entry(key: str, function: str | Function, values: tuple[str, str]) -> str:
    """One entry of the manual, at least ``ENTRY_STRIDE`` tokens long; its title follows the key."""
    body = key_line(key) + SPELLING[ASSISTANT] + reply(key, function, values) + SPELLING[EOS]
    words = _title(key)
    title = words[:6]
    while token_count(text := f"\n## {' '.join(title)}\n{body}") < ENTRY_STRIDE:
        title = words[: len(title) + 1]
    return text


def trigrams(word: str) -> list[str]:
    """Its runs of three letters, in order."""
    return [word[at : at + 3] for at in range(len(word) - 2)]


def expected_reply(text: str) -> str:
    """The reply that an entry spells out, without the final EOS."""
    return text.split(SPELLING[ASSISTANT], 1)[1].removesuffix(SPELLING[EOS])


def token_count(text: str) -> int:
    """Tokens of ``text``: one for a special token, one for any other UTF-8 byte."""
    for spelling in SPELLING.values():
        text = text.replace(spelling, "\0")
    return len(text.encode())


def _title(key: str) -> list[str]:
    """A run of words that only depends on the key; longer than any padding needs."""
    state = zlib.crc32(key.encode())
    words = []
    for _ in range(ENTRY_STRIDE // 4):
        state = (state * 1664525 + 1013904223) % 2**32
        words.append(_WORDS[state >> 27])
    return words
