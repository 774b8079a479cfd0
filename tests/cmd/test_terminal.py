"""What is seen at a terminal: tables, progress, and no control characters of plugins."""

from __future__ import annotations

import re
from typing import Any

Cli = Any  # of conftest.py

EVIL = "\x1b]0;title\x07 [bold]not markup[/bold] \x9b31m \u202e \r over\r\nnext\tline"
SHOWN = "\\x1b]0;title\\x07 [bold]not markup[/bold] \\x9b31m \\u202e \\r over\r\nnext"


def plain(text: str) -> str:
    """Without the sequences that style text and move the cursor, which are our own."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def test_lists_are_tables_at_a_terminal(tinyhost: Cli) -> None:
    text, code = tinyhost.terminal("plugin", "registry", "tekton")
    assert code == 0
    assert "NAME" in plain(text)
    assert "\u2500\u2500\u2500" in text
    assert "\t" not in text


def test_without_colour_when_that_is_wanted(tinyhost: Cli) -> None:
    tinyhost.plugin("mine")
    coloured, _ = tinyhost.terminal("plugin", "load", "mine")
    assert "\x1b[1m" in coloured
    bare, _ = tinyhost.terminal("plugin", "load", "mine", env={"TERM": "dumb"})
    assert "mine loaded" in bare
    assert "\x1b" not in bare


def test_progress_is_shown_for_each_plugin_while_it_loads(tinyhost: Cli) -> None:
    tinyhost.plugin("first", delay=0.3)
    text, code = tinyhost.terminal("plugin", "load", "first", "nowhere")
    assert code == 1
    assert re.search(r"first +\.\.\.", plain(text))
    assert re.search(r"nowhere +failed after \d+ ms", plain(text))
    assert re.search(r"first +loaded after \d+ ms", plain(text))
    # The progress is wiped away before the result.
    assert text.index("\x1b[2K") < text.index("first loaded\x1b")
    assert "plugin not found: nowhere" in text


def test_the_answer_of_a_tool_cannot_command_the_terminal(tinyhost: Cli) -> None:
    tinyhost.plugin("mine", tools={"say": {"result": {"content": EVIL}}})
    text, code = tinyhost.terminal("tool", "call", "plugin__mine__say", "--plugin", "mine")
    assert code == 0
    shown = plain(text)
    assert SHOWN in shown
    assert shown.endswith("line\r\n")
    assert "\x1b]" not in text
    assert "\x07" not in text


def test_json_at_a_terminal_is_escaped_too(tinyhost: Cli) -> None:
    tinyhost.plugin("mine", tools={"say": {"result": {"content": EVIL}}})
    text, _ = tinyhost.terminal("tool", "call", "plugin__mine__say", "--plugin", "mine", "--json")
    assert '"content":"\\u001b]0;title\\u0007 [bold]not markup[/bold] \\u009b31m \\u202e' in text


def test_errors_tables_and_facts_cannot_command_the_terminal(tinyhost: Cli) -> None:
    tinyhost.plugin(
        "evil", version=EVIL, hooks={"permission.ask": {"error": {"code": 1, "message": EVIL}}}
    )
    broken = tinyhost.plugins / "broken"
    broken.write_text("#!/bin/sh\nprintf '\\033]0;title\\007' >&2\n")
    broken.chmod(0o755)
    for line in (
        ("plugin", "load", "evil", "broken"),
        ("hook", "invoke", "permission.ask", "--plugin", "evil", "--plugin", "broken", "-v"),
        ("doctor", "--plugin", "broken", "--plugin", "evil"),
    ):
        text, code = tinyhost.terminal(*line)
        assert code == 1
        assert "\\x1b]0;title" in text
        assert not {"\x07", "\x9b", "\u202e"} & set(text)
        assert "\x1b]" not in text
