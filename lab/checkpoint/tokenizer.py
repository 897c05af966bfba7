"""A tokenizer whose tokens are bytes, in the format of the tokenizers library.

One rule: id = byte; added tokens follow. One that is ``special`` is left out of an engine's text
by default, any other is shown as it is spelt.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

BYTES = 256  # ids below are bytes


def tokenizer(added: Mapping[int, str], special: Collection[int]) -> dict[str, Any]:
    """The contents of tokenizer.json: ``added`` spells the ids from ``BYTES`` on."""
    bytewise = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_added(at, text, at in special) for at, text in added.items()],
        "normalizer": None,
        "pre_tokenizer": {**bytewise, "use_regex": False},
        "post_processor": None,
        "decoder": {**bytewise, "use_regex": False},
        "model": {"type": "BPE", "vocab": byte_names(), "merges": []},
    }


def byte_names() -> dict[str, int]:
    """The characters that stand for the 256 bytes since GPT-2: itself where it is printable, else
    the next of those from U+0100 on.
    """
    shown = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    hidden = [byte for byte in range(BYTES) if byte not in shown]
    return {chr(b if b in shown else BYTES + hidden.index(b)): b for b in range(BYTES)}


def _added(at: int, text: str, special: bool) -> dict[str, Any]:
    return {
        "id": at,
        "content": text,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": special,
    }
