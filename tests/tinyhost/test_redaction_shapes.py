"""What has the form of a secret is masked, and what has not is left alone."""

from __future__ import annotations

import pytest

from tinyhost.redaction import redact_shapes

LONG = "aB3" * 20


@pytest.mark.parametrize(
    "secret",
    [
        "ghp_" + LONG[:36],
        "github_pat_" + LONG,
        "glpat-" + LONG[:20],
        "xoxb-1234567890-abc",
        "sk-proj-" + LONG,
        "sk_live_" + LONG[:24],
        "AIza" + LONG[:35],
        "ya29." + LONG,
        "npm_" + LONG[:36],
        "pypi-" + LONG,
        "hf_" + LONG[:34],
        "AKIA" + "ABCD1234EFGH5678",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlMTIz",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIB\nabc=\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_a_token_is_masked_wherever_it_stands(secret: str) -> None:
    assert redact_shapes(secret) == "[redacted]"
    assert redact_shapes(f'say "{secret}", then ({secret})') == (
        'say "[redacted]", then ([redacted])'
    )


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Authorization: Bearer abc123def", "Authorization: Bearer [redacted]"),
        ('{"authorization": "Basic dXNlcjpwYXNz1"}', '{"authorization": "Basic [redacted]"}'),
        ("api_key=abcd1234&x=1", "api_key=[redacted]&x=1"),
        ("APIKEY: abcd1234", "APIKEY: [redacted]"),
        ('"access_token": "abcd-1234"', '"access_token": "[redacted]"'),
    ],
)
def test_what_follows_a_word_for_secrets_is_masked(text: str, masked: str) -> None:
    assert redact_shapes(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "the bearer certificate of authorization: required",
        "api_key = settings.get(name)",
        "risk-management-of-large-organisations-and-others",
        "task-ghp_short sk-learn eyJust.text.here",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ],
)
def test_other_text_is_left_alone(text: str) -> None:
    assert redact_shapes(text) == text
