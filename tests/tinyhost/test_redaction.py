from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost.redaction import looks_secret, redact, redact_start, redact_value, secrets_in

SECRET = [
    "OPENROUTER_API_KEY",
    "openai_api_key",
    "GH_TOKEN",
    "GITHUB_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_ACCESS_KEY_ID",
    "TINYCODE_AUTH_TOKEN",
    "DB_PASSWORD",
    "AUTHORIZATION",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "AUTH_HEADER",
    "X_PASSWD",
    "X_CREDENTIALS",
    "X_PRIVATE_KEY",
    "MY_SESSION_TOKEN_2",
    "PGPASSWORD",
    "GITHUB_PAT",
    "MYSQL_PWD",
    "SSHPASS",
    "NPM_AUTHTOKEN",
    "STRIPE_KEY",
    "DB_PASS",
    "apiToken",
    "oauthToken",
    "serviceAccountToken",
    "password",
    "sessionCookie",
    "x-api-key",
]
PLAIN = [
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "KUBECONFIG",
    "SSH_AUTH_SOCK",
    "GOPROXY",
    "TERM",
    "PWD",
    "OLDPWD",
    "SHELL",
    "LC_ALL",
    "SSH_PUBLIC_KEY",
    "MONKEY",
    "endpoint",
    "username",
    "PATTERN",
    "TOKENIZER",
    "baseUrl",
    "XDG_CONFIG_HOME",
]


@pytest.mark.parametrize("name", SECRET)
def test_secret_names_are_recognised(name: str) -> None:
    assert looks_secret(name)


@pytest.mark.parametrize("name", PLAIN)
def test_ordinary_names_are_not_secret(name: str) -> None:
    assert not looks_secret(name)


def test_values_under_secret_names_are_found_at_any_depth() -> None:
    options = {
        "apiToken": "token-1",
        "name": "ordinary",
        "nested": [{"password": "hunter22", "user": "somebody"}],
        "credentials": {"id": "the-id", "list": ["item-one"]},
        "token": 1234567,
    }
    assert secrets_in(options) == {"token-1", "hunter22", "the-id", "item-one"}


def test_passwords_in_addresses_are_found_under_any_name() -> None:
    values = {
        "DATABASE_URL": "postgres://user:p%40ssword@host/db",
        "CACHE": "redis://:redis-pass@host:6379",
        "PLAIN_URL": "https://example.com:8080/a@b",
    }
    assert secrets_in(values) == {"p%40ssword", "p@ssword", "redis-pass"}


def test_short_values_are_left_out() -> None:
    assert secrets_in({"TOKEN": "12345", "SECRET": "", "PASSWORD": "123456"}) == {"123456"}


def test_each_line_of_a_longer_secret_counts() -> None:
    found = secrets_in({"TLS_PRIVATE_KEY": "-----BEGIN-----\nabcdefgh\n-----END-----\n"})
    assert "abcdefgh" in found


def test_longer_secrets_are_masked_first() -> None:
    text = redact("a secret-long and a secret-", ["secret-", "secret-long"])
    assert text == "a [redacted] and a [redacted]"


def test_secrets_are_no_patterns() -> None:
    assert redact("a.c abc", ["a.c"]) == "[redacted] abc"
    assert redact("text", []) == "text"
    assert redact("text", [""]) == "text"


@given(st.text(), st.lists(st.text(alphabet="xyz.*", min_size=6), max_size=4))
def test_no_secret_is_left_in_the_text(text: str, secrets: list[str]) -> None:
    whole = redact(" ".join([text, *secrets, text]), secrets)
    assert not any(secret in whole for secret in secrets)


def test_every_text_in_a_value_is_masked() -> None:
    value = {"a": ["x secret-1", 3, None, {"b": "secret-1"}], "secret-1": True}
    assert redact_value(value, ["secret-1"]) == {
        "a": ["x [redacted]", 3, None, {"b": "[redacted]"}],
        "secret-1": True,
    }


def test_a_secret_that_a_cut_text_ends_in_is_masked_too() -> None:
    secrets = ["secret-number-1"]
    assert redact_start("x secret-number-1 y", secrets) == "x [redacted] y"
    assert redact_start("x secret-num", secrets) == "x [redacted]"
    assert redact_start("x secr", secrets) == "x secr"  # too short to be known for one


@pytest.mark.parametrize("secret", ['pa"ss word', "back\\slash\\", "schlüssel", "two\nlines here"])
@pytest.mark.parametrize("ascii", [True, False])
def test_a_secret_is_masked_as_json_text_has_it(secret: str, ascii: bool) -> None:
    secrets = secrets_in({"DB_PASSWORD": secret, "URL": "https://me:q%22uote@host/"})
    text = json.dumps({"command": f'login {secret} q"uote'}, ensure_ascii=ascii)
    masked = redact(text, secrets)
    assert not any(part in masked for part in ("ss", "slash", "schl", "lines", "uote"))
    json.loads(masked)
