"""Options: what is taken, and how a wrong one is answered."""

from __future__ import annotations

from typing import Any

import pytest

from tinyhost_plugins.container_linter.options import OptionError, read_options


def test_nothing_is_needed() -> None:
    options = read_options({})
    assert (options.bases, options.disable) == ((), frozenset())
    assert options.labels == ("name", "version", "summary")
    assert (options.limit, options.max_characters) == (50, 256 * 1024)


def test_all_options_are_taken() -> None:
    options = read_options(
        {
            "bases": ["quay.io/ours/"],
            "disable": ["latest-tag"],
            "labels": [],
            "limit": 7,
            "maxCharacters": 4096,
        }
    )
    assert (options.bases, options.disable) == (("quay.io/ours/",), {"latest-tag"})
    assert (options.labels, options.limit, options.max_characters) == ((), 7, 4096)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"base": []}, 'there is no option "base"; there are bases, disable'),
        ({"bases": "x"}, 'option "bases" has to be a list of texts'),
        ({"labels": [" "]}, 'option "labels" has to be a list of texts'),
        ({"disable": ["latest"]}, 'option "disable": there is no rule "latest"; there are syntax'),
        ({"limit": 0}, 'option "limit" has to be a whole number from 1 to 10000'),
        ({"limit": True}, 'option "limit" has to be a whole number'),
        ({"maxCharacters": "9"}, 'option "maxCharacters" has to be a whole number from 1024'),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], text: str) -> None:
    with pytest.raises(OptionError) as caught:
        read_options(options)
    assert text in str(caught.value)
