"""Options: what is taken, and how a wrong one is answered."""

from __future__ import annotations

from typing import Any

import pytest

from tinyhost_plugins.log_sanitizer.options import OptionError, read_options


def test_nothing_is_needed() -> None:
    options = read_options({})
    assert options.args == "note"
    assert (options.allow, options.names, options.skip_tools) == (frozenset(),) * 3
    assert options.max_characters == 256 * 1024


def test_all_options_are_taken() -> None:
    options = read_options(
        {
            "allow": ["jwt"],
            "args": "deny",
            "names": ["Geheim"],
            "skipTools": ["vault"],
            "maxCharacters": 4096,
        }
    )
    assert options.allow == {"jwt"}
    assert options.args == "deny"
    assert options.names == {"geheim"}
    assert options.skip_tools == {"vault"}
    assert options.max_characters == 4096
    # A name of nothing but signs would be that of everything without letters.
    assert read_options({"names": ["--", "Geheim"]}).names == {"geheim"}


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"alow": []}, 'there is no option "alow"'),
        ({"allow": "jwt"}, '"allow" has to be a list of texts'),
        ({"allow": ["jwtt"]}, 'there is no class "jwtt"; there are '),
        ({"names": [""]}, '"names" has to be a list of texts'),
        ({"skipTools": [1]}, '"skipTools" has to be a list of texts'),
        ({"args": "stop"}, '"args" has to be one of note, ignore, deny, mask'),
        ({"args": ["deny"]}, '"args" has to be one of'),
        ({"maxCharacters": 1}, '"maxCharacters" has to be a whole number from 1024'),
        ({"maxCharacters": 524289}, '"maxCharacters" has to be a whole number from 1024 to 524288'),
        ({"maxCharacters": True}, '"maxCharacters" has to be a whole number'),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], text: str) -> None:
    with pytest.raises(OptionError) as caught:
        read_options(options)
    assert text in str(caught.value)
