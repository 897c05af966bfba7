"""Bytes have the names that engines expect, and added tokens are special only where asked."""

from __future__ import annotations

from lab.checkpoint.tokenizer import byte_names, tokenizer


def test_a_token_is_a_byte() -> None:
    names = byte_names()
    assert sorted(names.values()) == list(range(256))
    assert names["a"] == ord("a") and names["Ġ"] == ord(" ") and names["Ċ"] == ord("\n")


def test_only_what_is_named_special_is() -> None:
    added = tokenizer({256: "<end>", 257: "<think>"}, special=[256])["added_tokens"]
    assert [(it["id"], it["content"], it["special"]) for it in added] == [
        (256, "<end>", True),
        (257, "<think>", False),
    ]
