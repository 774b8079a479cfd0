"""The configuration's text: whatever json takes we take the same, and only JsoncError is raised."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from tinyhost import jsonc
from tinyhost.config import parse_config
from tinyhost.errors import ConfigError

SEEDS = [
    b'{"a": [1, -2.5e3, true, null, "x\\u00e9\\n"], /* c */ "b": {},} // end\n',
    b'{"plugins": ["demo", ["other", {"depth": 3}]], "settings": {"*": {"timeouts": {"hook": "5s"}}}}',
    b'{"hooks": {"PreToolUse": []}, "permissions": {"allow": ["bash(git *)"]}, "mode": "ask"}',
    b'{"a": 1, "a": 2, "\\ud83d\\ude00": "\\ud800", "n": 1e400}',
]


def check(data: bytes) -> None:
    """Parse it as text, and as a configuration."""
    try:
        text = jsonc.decode(data)
    except jsonc.JsoncError:
        return
    expected = _by_json(text)
    try:
        document = jsonc.parse(text)
    except jsonc.JsoncError as error:
        reason, place = error.reason, (error.line, error.column)
    else:
        value = jsonc.plain(document.root)
        assert expected is _REFUSED or repr(value) == repr(expected)
        with contextlib.suppress(ConfigError):
            parse_config(text, "/nowhere/config.json")
        return
    assert reason
    assert min(place) >= 1
    assert expected is _REFUSED or _may_be_refused(text)


_REFUSED = object()


def _by_json(text: str) -> Any:
    def refuse(_: str) -> Any:
        raise ValueError

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        return _REFUSED


def _may_be_refused(text: str) -> bool:
    """Of what json takes we refuse deep nesting, lone surrogates and what no float can hold."""
    deep = text.count("[") + text.count("{") > jsonc.MAX_DEPTH
    return (
        deep or "\\u" in text or any(0xD800 <= ord(c) < 0xE000 for c in text) or "e" in text.lower()
    )


if __name__ == "__main__":
    import harness

    harness.main(check, SEEDS)
