"""A server of the probe's: its raw replies are read by our parser, and judged byte for byte."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from engine.text.template import render
from lab.errors import UserError
from lab.judging import judge_arm
from lab.records import ArmHistory
from lab.targets.probed import PROMPT
from lab.targets.remote import run_remote
from lab.workloads import resolve
from tests.lab.driver.sick import DONE, Caller, Sick, says, sick
from tests.lab.targets.remotes import server, task

LOAD = resolve("probe_sessions", "small", {"sessions": 2, "turns": 3, "entries": 3})
PLANS = tuple(LOAD.kept(0))
DUE = {
    (plan.system, turn.prompt_messages[0]["content"]): turn.expected_text
    for plan in PLANS
    for turn in plan.turns
}


Change = Callable[[str], str]
PROBED = len(render(PROMPT))


def counted(tokens: int) -> bytes:
    """A reply of one token to a prompt of so many."""
    choice = {"index": 0, "message": {"content": "<"}, "finish_reason": "length"}
    return json.dumps({"choices": [choice], "usage": {"prompt_tokens": tokens}}).encode()


def heard(
    spoil: Change, thinks: Change | None = None, tokens: int = PROBED
) -> tuple[ArmHistory, Sick]:
    """The load against a server that says what is due, spoilt, a few characters at a time; one that
    ``thinks`` tells its thought apart.
    """

    async def tell(caller: Caller) -> None:
        messages = caller.asked["messages"]
        if not caller.asked["stream"]:
            return await caller.whole("200 OK", counted(tokens))
        due = DUE[messages[0]["content"], messages[-1]["content"]]
        text = spoil(due)
        parts = [says(content=text[at : at + 7]) for at in range(0, len(text), 7)]
        thought = says(reasoning_content=thinks(due)) if thinks else b""
        body = thought + b"".join(parts) + says("stop") + DONE
        await caller.begin()
        await caller.send(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))

    with sick(tell) as it:
        asked = replace(task(), workload=LOAD, plans=PLANS)
        return run_remote(asked, server(it.url)), it


def test_a_server_that_says_what_is_due_is_clean() -> None:
    history, _ = heard(str)
    verdict, findings = judge_arm(history)
    assert (verdict.verdict, findings) == ("clean", [])
    assert all(reply.raw_text == reply.expected_text != "" for reply in history.replies)
    assert all(reply.tool_calls for reply in history.replies)


def test_no_tools_are_offered_and_replies_are_echoed_as_they_were_said() -> None:
    _, it = heard(str)
    chats = [caller.asked for caller in it.heard if caller.asked and caller.asked["stream"]]
    assert not any("tools" in chat for chat in chats)
    echoed = [
        message for chat in chats for message in chat["messages"] if message["role"] == "assistant"
    ]
    assert echoed and all(set(message) == {"role", "content"} for message in echoed)
    assert {message["content"] for message in echoed} <= set(DUE.values())


def test_one_wrong_letter_of_a_value_is_corrupt() -> None:
    history, _ = heard(lambda text: text.replace("K", "L"))
    verdict, findings = judge_arm(history)
    assert verdict.verdict == "corrupt" and verdict.replies_corrupt > 0
    assert {"wrong_text", "wrong_value"} <= {it.detector for it in findings}


def test_a_reply_that_is_not_closed_is_corrupt_markup_in_the_content() -> None:
    history, _ = heard(lambda text: text.removesuffix("</｜DSML｜tool_calls>"))
    verdict, _ = judge_arm(history)
    assert verdict.outcomes == {"leaked_markup": 6}


def test_a_server_that_parses_thoughts_itself_is_judged_by_the_parts() -> None:
    def said(text: str) -> str:
        return text.split("</think>")[1].strip()

    history, _ = heard(said, thinks=lambda text: text.split(">")[1].split("<")[0])
    assert judge_arm(history)[0].verdict == "clean"
    assert {reply.raw_text for reply in history.replies} == {None}
    history, _ = heard(said, thinks=lambda text: "Call nobody.")
    assert judge_arm(history)[0].verdict == "corrupt"


def test_a_server_of_another_model_is_not_judged_by_the_probe_s_replies() -> None:
    with pytest.raises(UserError, match=r"is not the probe.* is 23 there; `kvlab probe make`"):
        heard(str, tokens=23)
