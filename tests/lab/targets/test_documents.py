"""What a server says of itself is kept without its own secrets."""

from __future__ import annotations

import pytest

from lab.targets.documents import INFO, LEFT_OUT, info_of, without_secrets
from lab.targets.remote import run_remote
from tests.lab.driver.sick import CARD, Caller, sick, well
from tests.lab.targets.remotes import server, stranger_task

MODELS = {"/v1/models": {"data": [CARD]}}


async def resets(caller: Caller) -> None:
    caller.reset()


async def cut_short(caller: Caller) -> None:
    await caller.whole("200 OK", b'{"half":', content_length="999")
    caller.writer.close()


async def unwilling(caller: Caller) -> None:
    await caller.whole("500 Internal Server Error", b"no")


async def no_json(caller: Caller) -> None:
    await caller.whole("200 OK", b"[" * 5000)


@pytest.mark.parametrize("tell", [resets, cut_short, unwilling, no_json])
def test_a_document_that_cannot_be_had_costs_no_arm(tell: object) -> None:
    with sick(well, {**MODELS, "/server_info": tell, "/version": {"version": "1"}}) as it:
        history = run_remote(stranger_task(turns=1), server(it.url))
    assert {reply.status for reply in history.replies} == {"ok"}
    told = [fields["path"] for _, kind, fields in history.events if kind == "server_info"]
    assert told == ["/version", "/v1/models"]


def test_what_a_server_runs_with_is_found_under_either_of_its_names() -> None:
    assert info_of({INFO[0]: {"a": 1}}, INFO[1]) == {"a": 1}
    assert info_of({INFO[0]: 1, INFO[1]: 2}, INFO[1]) == 2
    assert info_of({INFO[0]: 1}, "/config") is None


@pytest.mark.parametrize(
    "name",
    [
        *("hf_token", "HF_TOKEN", "auth_token", "token", "admin_api_key", "aws_secret_access_key"),
        *("AWS_ACCESS_KEY_ID", "private_key", "ssl_keyfile_password", "credential", "access_token"),
    ],
)
def test_what_a_secret_name_holds_is_left_out(name: str) -> None:
    assert without_secrets({"args": {name: "xyz"}}) == {"args": {name: LEFT_OUT}}


@pytest.mark.parametrize("name", ["max_tokens", "page_size", "tokenizer", "key", "eos_token_id"])
def test_what_is_no_secret_is_kept(name: str) -> None:
    assert without_secrets({name: "xyz"}) == {name: "xyz"}


def test_what_follows_a_secret_option_is_left_out() -> None:
    argv = ["serve", "--api-key", "xyz", "--hf-token=xyz", "--port", "1"]

    kept = ["serve", "--api-key", LEFT_OUT, f"--hf-token={LEFT_OUT}", "--port", "1"]
    assert without_secrets(argv) == kept
    assert without_secrets(" ".join(argv)) == " ".join(kept)
    assert "xyz" not in without_secrets(str(argv))


def test_an_option_without_a_value_hides_nothing() -> None:
    argv = ["--skip-token", "--port", "1", "--max-tokens", "5"]

    assert without_secrets(argv) == argv
    assert without_secrets(" ".join(argv)) == " ".join(argv)
