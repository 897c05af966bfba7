"""For every token of a known reply, the tokens of its context that it is made of."""

from __future__ import annotations

from engine.probe.codes import HOLE, SYMBOLS, symbol
from engine.text.template import render
from engine.text.tokenizer import encode
from lab.placing.judge import ids_of
from lab.placing.places import Text
from lab.placing.shown import MANUAL, REPLY
from tests.lab.placing.shows import again, plans, prompt


def text_of(session: int, turn: int) -> Text:
    plan = plans()[session]
    return Text(prompt(plan, turn).ids, ids_of(plan.turns[turn].expected_text))


def test_the_context_is_what_the_template_renders() -> None:
    plan = plans()[1]
    messages = [{"role": "system", "content": plan.system}]
    for turn, planned in enumerate(plan.turns):
        messages += planned.prompt_messages
        assert list(prompt(plan, turn).ids) == render(messages)
        messages.append({"role": "assistant", "content": planned.expected_text})


def test_every_token_is_a_copy_of_its_sources_or_made_for_a_hole() -> None:
    for plan in plans():
        for turn, planned in enumerate(plan.turns):
            ids, due = prompt(plan, turn).ids, ids_of(planned.expected_text)
            for place in Text(ids, due).places():
                copied = {ids[at] for at in place.sources}
                assert copied == ({ord(HOLE)} if place.made else {due[place.index]})


def test_a_first_reply_is_of_the_manual_and_a_repeated_symbol_of_the_reply_alone() -> None:
    plan = plans()[0]
    turn, first = again(plan)
    context = prompt(plan, turn)
    due = ids_of(plan.turns[turn].expected_text)
    for place in text_of(0, turn).places():
        if {context.part(at).kind for at in place.sources} == {REPLY}:
            assert chr(due[place.index]) in SYMBOLS
            assert {context.part(at).turn for at in place.sources} == {first}
    firsts = prompt(plan, first)
    for place in text_of(0, first).places():
        assert {firsts.part(at).kind for at in place.sources} == {MANUAL}


def test_a_repeated_key_s_symbols_hang_on_what_decode_wrote() -> None:
    plan = plans()[0]
    turn, _ = again(plan)
    text, context = text_of(0, turn), prompt(plan, turn)
    symbols = [
        place.sources[0]
        for place in text.places()
        if len(place.sources) == 1 and context.part(place.sources[0]).kind == REPLY
    ]
    assert len(symbols) >= 15
    n = len(context.ids)
    assert text.depends(symbols[0], symbols[0] + 1, n)
    assert text.depends(symbols[-1], symbols[-1] + 1, n)
    assert not text.depends(symbols[0], symbols[0] + 1, 10**5)  # it had said all by then


def test_the_last_rows_of_a_prompt_and_the_reference_are_needed() -> None:
    plan = plans()[0]
    _, first = again(plan)
    text, n = text_of(0, first), len(prompt(plan, first).ids)
    assert text.depends(n - 1, n, n)
    assert text.depends(n - 29, n - 28, n)  # of the reference, which makes the symbols
    assert not text.depends(1, 20, n)  # the introduction is never read


def test_rows_that_are_computed_later_need_those_before_them() -> None:
    plan = plans()[0]
    _, first = again(plan)
    text, source = text_of(0, first), text_of(0, first).place(5).sources[0]
    assert text.depends(source - 9, source - 8, source - 8)


def test_a_symbol_is_what_the_reference_makes() -> None:
    plan = plans()[0]
    _, first = again(plan)
    due, ids = ids_of(plan.turns[first].expected_text), list(prompt(plan, first).ids)
    ref = str(plan.turns[first].prompt_messages[0]["content"]).split('"ref":"')[1][:8]
    made = [place.index for place in text_of(0, first).places() if place.made]
    assert [due[at] for at in made] == [symbol(ref, [*ids, *due[:at]]) for at in made]
    assert encode(HOLE)[0] not in due
