"""Options: what is taken, and what a wrong one is answered with."""

from __future__ import annotations

from typing import Any

import pytest

from tinyhost_plugins.safety_net.policy import OptionError, read_options

RULE = {"id": "mine", "command": "x", "reason": "y"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alow": []}, 'there is no option "alow"'),
        ({"allow": "reboot"}, '"allow" has to be a list of texts'),
        ({"allow": [1]}, '"allow" has to be a list of texts'),
        ({"allow": [" "]}, "none of them empty"),
        ({"allow": ["rebot"]}, 'there is no rule "rebot"; there are cluster-delete'),
        ({"allowPaths": ["/"]}, 'option "allowPaths": "/" is not taken'),
        ({"allowPaths": ["~/"]}, '"~/" is not taken'),
        ({"allowPaths": ["/tmp/../etc"]}, "is not taken"),
        ({"tools": {}}, '"tools" has to be a list'),
        ({"extraRules": {}}, '"extraRules" has to be a list of objects'),
        ({"extraRules": ["x"]}, "rule 1 has to be an object"),
        ({"extraRules": [{**RULE, "regex": "."}]}, 'rule 1: there is no member "regex"'),
        ({"extraRules": [{**RULE, "reason": 1}]}, '"reason" has to be text'),
        ({"extraRules": [{"id": "mine", "command": "x"}]}, '"reason" is missing'),
        ({"extraRules": [{**RULE, "command": " "}]}, '"command" is missing'),
        ({"extraRules": [{**RULE, "id": "No Good"}]}, "lower-case letters"),
        ({"extraRules": [RULE, RULE]}, 'two rules "mine"'),
        ({"extraRules": [{**RULE, "id": "shred"}]}, '"shred" is a rule of safety-net already'),
    ],
)
def test_a_wrong_option_is_refused_with_a_text_that_names_it(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(OptionError) as caught:
        read_options(options)
    assert message in str(caught.value)


def test_all_options_may_be_absent_or_null() -> None:
    policy = read_options({"allow": None, "allowPaths": None, "extraRules": None, "tools": None})
    assert policy.allow == frozenset()
    assert policy.extra == ()


def test_a_rule_of_ones_own_may_be_named_in_allow() -> None:
    assert read_options({"extraRules": [RULE], "allow": ["mine"]}).allow == {"mine"}
