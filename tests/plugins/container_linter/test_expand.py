"""Quotes, escapes and variables."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.container_linter.expand import LONGEST, Expanded, Unknown, expand
from tinyhost_plugins.container_linter.form import FormError

VALUES: dict[str, str | Unknown] = {
    "A": "one",
    "EMPTY": "",
    "PATHS": "/usr/lib/x.tar.gz",
    "GIVEN": Unknown("GIVEN"),
    "LONG": "x" * 3000,
}


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("plain", "plain"),
        ("$A", "one"),
        ("${A}b", "oneb"),
        ("$Ab", ""),
        ("'$A'", "$A"),
        ('"$A b"', "one b"),
        (r"\$A", "$A"),
        (r'"\$A \x \""', r'$A \x "'),
        ("a'b'\"c\"", "abc"),
        ("$", "$"),
        ("a$ b", "a$ b"),
        ("${NONE:-x}", "x"),
        ("${NONE-x}", "x"),
        ("${EMPTY:-x}", "x"),
        ("${EMPTY-x}", ""),
        ("${A:-x}", "one"),
        ("${A:+x}", "x"),
        ("${EMPTY:+x}", ""),
        ("${EMPTY+x}", "x"),
        ("${NONE+x}", ""),
        ("${A:?no}", "one"),
        ("${NONE:-${A}}", "one"),
        ("${NONE:-a b}", "a b"),
        ("${PATHS#*/}", "usr/lib/x.tar.gz"),
        ("${PATHS##*/}", "x.tar.gz"),
        ("${PATHS%.*}", "/usr/lib/x.tar"),
        ("${PATHS%%.*}", "/usr/lib/x"),
        ("${PATHS#???}", "r/lib/x.tar.gz"),
        (r"${PATHS#\*}", "/usr/lib/x.tar.gz"),
        ("${PATHS/lib/LIB}", "/usr/LIB/x.tar.gz"),
        ("${PATHS//r/R}", "/usR/lib/x.taR.gz"),
        # Without a build argument it has the default.
        ("${GIVEN:-x}", "x"),
        ("${GIVEN:+x}", ""),
    ],
)
def test_a_word_is_expanded(word: str, text: str) -> None:
    assert expand(word, VALUES.get) == Expanded(text)


@pytest.mark.parametrize("word", ["$GIVEN", "${GIVEN}", "${GIVEN:?x}"])
def test_a_variable_without_a_value_in_the_file_stays_and_is_named(word: str) -> None:
    expanded = expand(f"a/{word}", VALUES.get)
    assert expanded.text.startswith("a/$")
    assert expanded.unknown == ("GIVEN",)


@pytest.mark.parametrize(
    "word", ["${GIVEN#x}", "${LONG#x}", "${PATHS/l*/x}", "$LONG$LONG", "${GIVEN/a/b}"]
)
def test_what_cannot_be_followed_is_not_guessed(word: str) -> None:
    assert expand(word, VALUES.get).unknown


def test_the_escape_character_can_be_another() -> None:
    assert expand(r"c:\x`$A", VALUES.get, "`").text == r"c:\x$A"


@pytest.mark.parametrize(
    "word", ["'a", '"a', "${A", "${}", "${A:-x", "${A@Q}", "${A:x}", "${NONE:-" * 40]
)
def test_what_is_no_word_is_refused(word: str) -> None:
    with pytest.raises(FormError):
        expand(word, VALUES.get)


@given(st.text(alphabet="A$${}:-+?#%/*'\"\\a \n", max_size=60))
def test_any_word_is_expanded_or_refused(word: str) -> None:
    with contextlib.suppress(FormError):
        assert len(expand(word, VALUES.get).text) <= LONGEST
