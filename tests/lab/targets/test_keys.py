"""A server's key comes from the environment and is never stored, whoever says it."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from lab.driver.secret import Secret
from lab.errors import TargetError, UserError
from lab.targets.keys import secret
from lab.targets.remote import run_remote
from tests.lab.driver.sick import DONE, Caller, says, sick
from tests.lab.targets.remotes import server, stranger_task

KEY, VARIABLE = "sk-very-secret-1234", "KVLAB_TEST_KEY"
CARD = {"id": "theirs", "owned_by": KEY}


async def echo(caller: Caller) -> None:
    """What a careless server says back, the key over two parts of the stream too."""
    if len(caller.asked["messages"]) > 2:
        body = f"wrong key: {caller.headers['Authorization']}".encode()
        return await caller.whole("401 Unauthorized", body)
    await caller.begin()
    for text in (f"you are {KEY[:9]}", f"{KEY[9:]}, hello"):
        await caller.part(says(content=text, reasoning_content=KEY))
    await caller.part(says("stop", tool_calls=[{"index": 0, "function": {"name": KEY}}]))
    await caller.part(DONE)
    await caller.end()


def test_a_key_that_the_server_says_back_is_stored_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    documents = {"/v1/models": {"data": [CARD]}, "/server_info": {"api_key": "k", "note": KEY}}
    with sick(echo, documents) as it:
        history = run_remote(stranger_task(), server(it.url, api_key_env=VARIABLE))
    assert {chat.headers["Authorization"] for chat in it.heard} == {f"Bearer {KEY}"}
    assert [reply.status for reply in history.replies] == ["ok", "transport_error"] * 2
    assert history.replies[0].content == f"you are ${VARIABLE}, hello"
    assert history.replies[1].error == f"HTTP 401: wrong key: Bearer ${VARIABLE}"
    assert KEY not in str(asdict(history))
    infos = [fields["info"] for _, kind, fields in history.events if kind == "server_info"]
    assert infos[0] == '{"api_key": "(not stored)", "note": "$KVLAB_TEST_KEY"}'


def test_a_key_cut_over_two_chunks_of_a_failed_reply_is_found() -> None:
    async def main_part(caller: Caller) -> None:
        await caller.begin()
        await caller.part(f": {KEY[:9]}".encode())
        await caller.part(f"{KEY[9:]}\n\n".encode())
        await caller.end()

    with sick(main_part) as it, pytest.MonkeyPatch.context() as environment:
        environment.setenv(VARIABLE, KEY)
        history = run_remote(stranger_task(turns=1), server(it.url, api_key_env=VARIABLE))
    assert {"".join(reply.chunks) for reply in history.replies} == {f": ${VARIABLE}\n\n"}


@pytest.mark.parametrize("value", [None, "", " "])
def test_a_variable_that_is_not_set_is_the_user_s_mistake(
    value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    if value is not None:
        monkeypatch.setenv(VARIABLE, value)
    with pytest.raises(UserError, match=f"^api_key_env: the environment variable {VARIABLE} is "):
        secret(VARIABLE)


def test_what_cannot_stand_in_a_header_is_refused_without_being_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(VARIABLE, "sk-ü")
    with pytest.raises(UserError) as refused:
        secret(VARIABLE)
    assert "sk-" not in str(refused.value)


def test_no_variable_is_no_key() -> None:
    assert secret("") == Secret()
    assert (Secret().headers, Secret().scrub("sk-1")) == ({}, "sk-1")
    assert KEY not in repr(Secret(VARIABLE, KEY))


def test_a_refused_key_ends_the_arm_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    with sick(echo, {}) as it:
        it.status = "401 Unauthorized"
        with pytest.raises(TargetError, match="HTTP 401: api_key_env names no valid key"):
            run_remote(stranger_task(), server(it.url, api_key_env=VARIABLE))
