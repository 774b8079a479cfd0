"""Colours, line numbers and the signs of a diff hide nothing, and stay where they are."""

from __future__ import annotations

import base64
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinyhost_plugins.log_sanitizer import margins
from tinyhost_plugins.log_sanitizer.sanitize import sanitize

SECRET = (
    "apiVersion: v1\nkind: Secret\ndata:\n  user: Ym9iYm9iYm9i\n  level: ZmFzdA==\ntype: Opaque\n"
)
VALUES = ("Ym9iYm9iYm9i", "ZmFzdA==")
DOCUMENT = json.dumps({"kind": "Secret", "data": {"user": VALUES[0], "level": VALUES[1]}}, indent=2)


def listed(text: str, form: str) -> str:
    """The text with numbers before its lines. form: of a line, with {n} and {line}."""
    return "".join(
        form.format(n=number, line=line) for number, line in enumerate(text.splitlines(True), 7)
    )


@pytest.mark.parametrize("text", [SECRET, DOCUMENT], ids=["YAML", "JSON"])
@pytest.mark.parametrize(
    "form",
    [
        *("{n:6}\t{line}", "{n:6}→{line}", "{n:4} │ {line}", "{n}| {line}", "{n}:{line}"),
        *("a/b-2.yml:{n}:{line}", "a/b.yml-{n}-{line}", "\x1b[2m{n:4}\x1b[0m │ {line}"),
    ],
)
def test_a_listing_is_masked_as_what_it_lists(text: str, form: str) -> None:
    masked = sanitize(listed(text, form)).text
    assert masked == listed(sanitize(text).text, form)
    assert not any(value in masked for value in VALUES)


def test_a_diff_is_masked_on_both_sides() -> None:
    old, new = SECRET.splitlines(), SECRET.replace("Ym9i", "YWxp").splitlines()
    hunk = "\n".join(
        f" {left}" if left == right else f"-{left}\n+{right}"
        for left, right in zip(old, new, strict=True)
    )
    text = f"--- a/x.yml\n+++ b/x.yml\n@@ -1,6 +1,6 @@\n{hunk}\n\\ No newline at end of file\nnext: Ym9i\n"
    masked = sanitize(text).text
    assert masked == re.sub(r"(Ym9i|YWxp){3}|ZmFzdA==", "[REDACTED:secret-data]", text)


def test_a_key_is_masked_with_the_numbers_within_it() -> None:
    dashes = "-" * 5
    lines = (
        f"{dashes}BEGIN PRIVATE KEY{dashes}",
        *["A" * 64] * 3,
        f"{dashes}END PRIVATE KEY{dashes}",
    )
    text = "\n".join(f"{number}\t{line}" for number, line in enumerate(("a", *lines, "b"), 1))
    assert sanitize(text).text == "1\ta\n2\t[REDACTED:private-key]\n7\tb"


def test_colours_stay_around_what_they_colour() -> None:
    text = '\x1b[1m"password"\x1b[0m\x1b[37m:\x1b[0m \x1b[32m"hunter2"\x1b[0m\x1b]8;;x\x1b\\y'
    assert sanitize(text).text == text.replace("hunter2", "[REDACTED:password]")


@pytest.mark.parametrize(
    "text",
    [
        "kind: Secret\ndata:\n  1: Zm9v\n  2: YmFy\n  a: YmF6\n",  # keys, not numbers of lines
        "kind: Secret\ndata:\n  a: Zm9v\n  b: YmFy\n  c: YmF6\n# 1:\n# 2:\n",
    ],
)
def test_numbers_that_are_part_of_a_text_are_read_with_it(text: str) -> None:
    assert sanitize(text).counts == {"secret-data": 3}


def test_a_single_number_and_one_that_does_not_follow_are_left() -> None:
    for text in ("12:password", "1\ta\n3\tb\n", "1\ta\n\n2\tb", "1:a\n2\tb\n", "a:1:x\nb:2:y\n"):
        assert margins.plain(text) == (text, [])
    assert margins.plain("1\ta\n2\tb\n9\tc\n")[0] == "a\nb\n9\tc\n"


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["1\t", "2\t", "3:", "4:", "\n", "\x1b[0m", "@@ -1 +1 @@\n", "+", "-", "a"]
        ),
        max_size=30,
    ).map("".join)
)
def test_every_place_is_found_back(text: str) -> None:
    plain, steps = margins.plain(text)
    for index, character in enumerate(plain):
        span = margins.back(margins.Span(index, index + 1, ""), steps)
        assert text[span.start : span.end] == character
    assert len(plain) + sum(step.gone[-1] for step in steps) == len(text)


def test_base64_of_the_texts_is_what_it_is_said_to_be() -> None:
    assert [base64.b64decode(value) for value in VALUES] == [b"bobbobbob", b"fast"]
