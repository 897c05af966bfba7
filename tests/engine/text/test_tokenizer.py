"""The tokenizer: exact both ways, and the same text however it arrives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text import tokenizer
from engine.text.tokenizer import DSML, EOS, SPELLING, VOCAB_SIZE, Decoder, decode, encode

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
WITH_SPECIALS = st.lists(st.one_of(TEXT, st.sampled_from(sorted(SPELLING.values())))).map("".join)
IDS = st.lists(st.integers(0, VOCAB_SIZE - 1))


@given(WITH_SPECIALS)
def test_text_survives_encoding(text: str) -> None:
    assert decode(encode(text)) == text


@given(IDS)
def test_tokens_one_by_one_spell_the_same_text(ids: list[int]) -> None:
    decoder = Decoder()
    assert "".join([decoder.feed(i) for i in ids] + [decoder.finish()]) == decode(ids)


@given(WITH_SPECIALS)
def test_plain_encoding_never_yields_a_special(text: str) -> None:
    assert encode(text, specials=False) == list(text.encode())


def test_every_special_is_one_token_and_all_ids_have_a_spelling() -> None:
    assert sorted(SPELLING) == list(range(256, VOCAB_SIZE))
    assert len(set(SPELLING.values())) == len(SPELLING)
    assert all(encode(spelling) == [special] for special, spelling in SPELLING.items())


def test_the_dsml_bars_are_fullwidth_and_ascii_bars_are_plain_bytes() -> None:
    assert encode("<\uff5cDSML\uff5cinvoke") == [ord("<"), DSML, *b"invoke"]
    assert encode("|DSML|") == list(b"|DSML|")


def test_broken_utf8_reads_as_the_replacement_character() -> None:
    assert decode([0xE2, 0x82, EOS, 65]) == "\ufffd" + SPELLING[EOS] + "A"


@pytest.mark.parametrize("token", [-1, VOCAB_SIZE])
def test_an_id_outside_the_vocabulary_is_refused(token: int) -> None:
    with pytest.raises(KeyError):
        decode([token])
    with pytest.raises(KeyError):
        Decoder().feed(token)


def test_contract_of_ids() -> None:
    assert (tokenizer.BOS, tokenizer.EOS, tokenizer.DSML, VOCAB_SIZE) == (256, 257, 263, 272)
