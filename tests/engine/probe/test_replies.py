"""A reply is its entry's, with the holes filled: by whoever asks first."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from engine.probe.codes import NONCE_ALPHABET, SYMBOLS
from engine.probe.replies import differs, reply, symbols
from engine.probe.text import HOLES, Entry, flaws, later_turn
from engine.scribe.manual import FUNCTIONS, RULES_TEXT, VALUE_LENGTHS
from engine.text.tokenizer import ASSISTANT, EOS, SPELLING, encode

ENTRY = Entry("ABCDEFGHIJ01", FUNCTIONS[0], "AAAABBBB", 17)
words = st.text(NONCE_ALPHABET, min_size=8, max_size=8)
entries = st.builds(
    Entry,
    key=st.text(NONCE_ALPHABET, min_size=12, max_size=12),
    function=st.sampled_from(FUNCTIONS),
    value=st.text(NONCE_ALPHABET, min_size=VALUE_LENGTHS[0], max_size=VALUE_LENGTHS[1]),
    holes=st.integers(*HOLES),
)


@given(entry=entries, ref=words)
def test_symbols_stand_where_the_holes_are_and_nowhere_else(entry: Entry, ref: str) -> None:
    said = symbols(entry, ref)
    assert len(said) == entry.holes and set(said) <= set(SYMBOLS)
    assert reply(entry, ref) == entry.reply.replace("?" * entry.holes, said)


@given(entry=entries, ref=words)
def test_an_entry_and_two_replies_to_its_key_have_no_flaw(entry: Entry, ref: str) -> None:
    turn = SPELLING[ASSISTANT] + reply(entry, ref) + SPELLING[EOS]
    asked = [later_turn(it, entry.key) + turn for it in (ref, "ABCD0123")]
    assert flaws(encode(entry.text + RULES_TEXT + "".join(asked))) == []


def test_references_of_the_same_hash_fill_holes_alike_and_others_fill_each_otherwise() -> None:
    rng, first = Random(1), "ABCD0123"
    refs = ["".join(rng.choices(NONCE_ALPHABET, k=8)) for _ in range(60)]
    other = [ref for ref in refs if differs(ref, [first])]
    assert 0 < len(other) < len(refs)
    mine = symbols(ENTRY, first)
    for ref in refs:
        pairs = list(zip(symbols(ENTRY, ref), mine, strict=True))
        assert all((a != b) == (ref in other) for a, b in pairs)
