"""What a server says of itself is kept without its own secrets."""

from __future__ import annotations

import pytest

from lab.targets.documents import LEFT_OUT, without_secrets


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
