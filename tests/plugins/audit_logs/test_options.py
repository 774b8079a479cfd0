"""Options and arguments: what is taken, and how wrong ones are answered."""

from __future__ import annotations

from typing import Any

import pytest

from tinyhost_plugins.audit_logs.arguments import check
from tinyhost_plugins.audit_logs.options import PLATFORM, THRESHOLDS, OptionError, read_options
from tinyhost_plugins.audit_logs.schemas import TOOLS
from tinyhost_sdk import HandlerError


def test_nothing_is_needed() -> None:
    options = read_options({})
    assert (options.max_rows, options.max_seconds, options.max_keys) == (500, 300, 100_000)
    assert options.max_line_bytes == 4 * 1024 * 1024
    assert (options.roots, options.platform, options.thresholds) == ((), PLATFORM, THRESHOLDS)


def test_all_options_are_taken() -> None:
    options = read_options(
        {
            "maxKeys": 5000,
            "maxLineBytes": 65536,
            "maxRows": 10,
            "maxSeconds": 60,
            "platformUsers": ["system:"],
            "roots": ["/srv/gathers"],
            "thresholds": {"deletions": [1, None], "serverErrorsPercent": [0.5, 2]},
        }
    )
    assert (options.max_keys, options.max_line_bytes) == (5000, 65536)
    assert (options.max_rows, options.max_seconds) == (10, 60)
    assert (options.platform, options.roots) == (("system:",), ("/srv/gathers",))
    assert options.thresholds["deletions"] == (1, None)
    assert options.thresholds["serverErrorsPercent"] == (0.5, 2)
    assert options.thresholds["authFailuresPercent"] == (5, 10)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"maxRow": 5}, 'there is no option "maxRow"; there are maxKeys, maxLineBytes'),
        ({"maxRows": 0}, '"maxRows" has to be a whole number from 1 to 5000'),
        ({"maxRows": True}, '"maxRows" has to be'),
        ({"maxSeconds": 3601}, '"maxSeconds" has to be a whole number from 1 to 3600'),
        ({"maxLineBytes": "1"}, '"maxLineBytes" has to be'),
        ({"maxKeys": 10}, '"maxKeys" has to be a whole number from 1000'),
        ({"roots": ["gathers"]}, '"roots" has to be a list of absolute paths'),
        ({"roots": "/srv"}, '"roots" has to be a list of texts'),
        ({"platformUsers": [""]}, '"platformUsers" has to be a list of texts'),
        ({"thresholds": 5}, '"thresholds" has to be an object'),
        ({"thresholds": {"x": [1, 2]}}, 'there is no check "x"; there are authFailuresPercent'),
        ({"thresholds": {"deletions": [1]}}, "deletions has to be a list of two numbers"),
        ({"thresholds": {"deletions": [-1, 2]}}, "deletions has to be a list of two numbers"),
        ({"thresholds": {"deletions": [6, 5]}}, "deletions has a limit for WARN above that for CR"),
        ({"thresholds": {"deletions": ["1", 2]}}, "deletions has to be a list of two numbers"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], text: str) -> None:
    with pytest.raises(OptionError) as caught:
        read_options(options)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("tool", "args", "text"),
    [
        ("audit_top", {}, "path is missing: An unpacked must-gather"),
        ("audit_top", {"path": "/x"}, "by is missing: one of user, verb, resource"),
        ("audit_top", {"path": "", "by": "user"}, "path is missing"),
        ("audit_top", {"path": "/x", "by": "color"}, "by must be one of user, verb"),
        ("audit_top", {"path": "/x", "by": "user", "n": "5"}, "n must be an integer"),
        ("audit_top", {"path": "/x", "by": "user", "n": True}, "n must be an integer"),
        ("audit_top", {"path": 5, "by": "user"}, "path must be a string"),
        ("audit_timeline", {"path": "/x", "interval": "day"}, "interval must be one of minute, ho"),
        ("audit_search", {"path": "/x", "all_stages": 1}, "all_stages must be true or false"),
        ("audit_health", {"path": "/x", "verb": "get"}, "unknown: verb; there are path, area"),
    ],
)
def test_wrong_arguments_are_named(tool: str, args: dict[str, Any], text: str) -> None:
    with pytest.raises(HandlerError) as caught:
        check(tool, TOOLS[tool][1], args)
    assert str(caught.value).startswith(f"wrong arguments for {tool}: ")
    assert text in str(caught.value)


def test_null_is_not_given_and_a_whole_number_is_an_integer() -> None:
    schema = TOOLS["audit_search"][1]
    args = {"path": "/x", "max": 3.0, "user": None, "status_code": 403}
    assert check("audit_search", schema, args) == {"path": "/x", "max": 3, "status_code": 403}


def test_an_empty_interval_is_the_default() -> None:
    assert check("audit_timeline", TOOLS["audit_timeline"][1], {"path": "/x", "interval": ""})


def test_the_most_rows_are_limited(ask: Any, seven: Any) -> None:
    answer = ask("audit_search", {"maxRows": 100}, max=101)
    assert answer.is_error
    assert "max may be 100 at most; the plugin's option maxRows sets that" in answer.content
