"""`tinyhost command` and `tinyhost service`, with real bingo plugins."""

from __future__ import annotations

import json
import os
import pty
import termios
import time
from pathlib import Path
from typing import Any

import pytest

from tinyhost.bingo.asking_types import (
    AnswerCancel,
    AnswerChoice,
    AnswerText,
    Question,
    QuestionOption,
)
from tinyhost.bingo.forms import read_any, write
from tinyhost.bingo.views import View
from tinyhost_cli import ask, questions
from tinyhost_cli.questions import read_answer
from tinyhost_cli.views import rendered

BINGO = Path(__file__).parents[1] / "tinyhost" / "bingo"


@pytest.fixture
def words(tinyhost: Any) -> Any:
    """The command, with the plugin wordcount and a file to count."""
    install(tinyhost, "wordcount", "wordcount.py")
    (tinyhost.project / "notes.txt").write_text("one two three\n")
    tinyhost.configure({"plugins": ["wordcount"]})
    return tinyhost


def install(tinyhost: Any, name: str, source: str) -> None:
    folder = tinyhost.plugins / name
    folder.mkdir()
    (folder / "main.py").write_text((BINGO / source).read_text())
    entry = {"command": "python3", "args": ["-S", "${PLUGIN_ROOT}/main.py"]}
    manifest = {"name": name, "version": "0.1.0", "entry": entry}
    (folder / "plugin.json").write_text(json.dumps(manifest))


def test_a_command_prints_its_view_as_text_and_at_a_terminal_as_a_table(words: Any) -> None:
    assert words.ok("command", "run", "/wordcount", "notes.txt") == "file · words\nnotes.txt · 3\n"
    assert words.ok("command", "run", "/wordcount notes.txt").endswith("notes.txt · 3\n")
    shown, code = words.terminal("command", "run", "wordcount", "notes.txt")
    assert code == 0
    assert "notes.txt   3" in shown
    assert "───" in shown


def test_a_command_gives_its_outcome_as_json(words: Any) -> None:
    text = words.ok("command", "run", "--json", "/wordcount", "notes.txt")
    assert json.loads(text) == {
        "command": "wordcount",
        "outcome": {
            "kind": "view",
            "view": {"kind": "table", "headers": ["file", "words"], "rows": [["notes.txt", "3"]]},
        },
    }


def test_what_follows_a_commands_name_is_its_own(words: Any) -> None:
    done = words("command", "run", "wordcount", "--brief")
    assert done.returncode == 1
    assert "cannot read --brief" in done.stderr


def test_a_command_that_nobody_offers_says_which_there_are(words: Any) -> None:
    done = words("command", "run", "/nope")
    assert done.returncode == 1
    assert "no loaded plugin offers the command 'nope'; there are: wordcount" in done.stderr


def test_commands_are_listed_and_completed(words: Any) -> None:
    assert words.ok("command", "list").splitlines()[1] == (
        "/wordcount\twordcount\t<path>\tcount the words in a file"
    )
    [listed] = words.json("command", "list")["commands"]
    assert (listed["plugin"], listed["name"], listed["instant"]) == ("wordcount", "wordcount", True)
    assert words.json("command", "complete", "/w") == {
        "completions": [{"value": "/wordcount", "label": "count the words in a file"}]
    }
    assert words.ok("command", "complete", "/wordcount no") == "VALUE\tLABEL\nnotes.txt\t-\n"
    assert words.json("command", "complete", "/nope x", code=1)["error"]["type"] == "NotOffered"


def test_the_tool_of_the_same_plugin_is_called_the_guarded_way(words: Any) -> None:
    called = words.json(
        "tool", "call", "plugin__wordcount__count", "--args", '{"path":"notes.txt"}'
    )
    assert called["content"] == "3 words in notes.txt"
    words.configure({"plugins": ["wordcount"], "permissions": {"deny": ["plugin__wordcount__*"]}})
    denied = words("tool", "call", "plugin__wordcount__count", "--args", '{"path":"notes.txt"}')
    assert denied.returncode == 1
    assert "plugin__wordcount__*" in denied.stderr


def test_what_a_plugin_offers_is_shown_when_it_is_loaded(tinyhost: Any) -> None:
    install(tinyhost, "stub", "stub.py")
    info = tinyhost.json("plugin", "info", "--load", "stub")["loaded"]
    assert info["dialect"] == "bingo"
    assert info["capabilities"] == {
        "commands": ["stub"],
        "contributors": ["notes", "after"],
        "compactors": ["cut"],
        "providers": ["stub"],
        "services": ["kv"],
    }
    assert "providers\tstub" in tinyhost.ok("plugin", "info", "--load", "stub")


def test_a_service_is_listed_and_called(tinyhost: Any) -> None:
    install(tinyhost, "stub", "stub.py")
    tinyhost.configure({"plugins": [["stub", {"kinds": ["services"]}]]})
    assert tinyhost.ok("service", "list").splitlines()[1] == "kv\tstub\tset, get"
    assert tinyhost.json("service", "list")["services"][0]["key"] == "kv"
    params = '{"name": "a", "value": [1]}'
    assert tinyhost.ok("service", "call", "kv", "set", "--params", params) == "null\n"
    assert tinyhost.json("service", "call", "kv", "set", "--params", params) == {"result": None}
    for args, words in (
        (["kv", "del"], "has no method 'del'; it has: get, set"),
        (["kv", "get", "--params", '{"name": "b"}'], "stub: no value b"),
        (["x", "get"], "no plugin offers the service 'x'; there are: kv"),
    ):
        done = tinyhost("service", "call", *args)
        assert done.returncode == 1
        assert words in done.stderr
    assert tinyhost("service", "call", "kv", "get", "--params", "{").returncode == 2


def test_a_notice_is_told_on_standard_error(tinyhost: Any) -> None:
    install(tinyhost, "stub", "stub.py")
    notice = {"level": "warn", "message": "it is \u001b old"}
    announce = {"key": "bingo.host", "method": "notice", "params": notice}
    tinyhost.configure({"plugins": [["stub", {"announce": announce}]]})
    done = tinyhost("tool", "list")
    assert done.stderr.count("plugin stub: it is \\x1b old") == 1


def test_options_that_do_not_fit_are_told_where_they_stand(tinyhost: Any) -> None:
    install(tinyhost, "stub", "stub.py")
    file = tinyhost.plugins / "stub" / "plugin.json"
    manifest = json.loads(file.read_text()) | {"config": {"required": ["limit"]}}
    file.write_text(json.dumps(manifest))
    tinyhost.configure({"plugins": [["stub", {"other": 1}]]})
    done = tinyhost("plugin", "load", "stub")
    assert done.returncode == 1
    assert "'limit' is a required property" in done.stderr


# --- views and questions


def shown(view: dict[str, Any]) -> str:
    from rich.console import Console

    console = Console(width=60, force_terminal=False, color_system=None)
    with console.capture() as capture:
        console.print(rendered(read_any(View, view)))
    return capture.get()


@pytest.mark.parametrize(
    ("view", "parts"),
    [
        ({"kind": "keyValue", "rows": [["a", "[red]1"]]}, ["a   [red]1"]),
        (
            {"kind": "tree", "nodes": [{"label": "a", "children": [{"label": "b", "badge": "x"}]}]},
            ["a", "└── b [x]"],
        ),
        ({"kind": "badge", "text": "ok", "tone": "good"}, ["[ok]"]),
        ({"kind": "progress", "value": 1, "total": 4, "label": "copy"}, ["copy 25 %", "━"]),
        ({"kind": "progress", "value": 3}, ["3"]),
        ({"kind": "panel", "title": "t", "child": {"kind": "text", "text": "x"}}, ["╭─ t ", "x"]),
        (
            {
                "kind": "stack",
                "children": [{"kind": "text", "text": "a"}, {"kind": "text", "text": "b"}],
            },
            ["a\nb"],
        ),
        (
            {
                "kind": "columns",
                "children": [{"kind": "text", "text": "a"}, {"kind": "text", "text": "b"}],
            },
            ["a   b"],
        ),
        ({"kind": "table", "headers": ["a"], "rows": [["1", "\x1b[31m"]]}, ["\\x1b[31m"]),
        ({"kind": "text", "text": "[bold]\x07"}, ["[bold]\\x07"]),
        ({"kind": "hologram", "fold": "flat"}, ["flat"]),
    ],
)
def test_a_view_at_a_terminal_shows_its_text_and_commands_nothing(
    view: dict[str, Any], parts: list[str]
) -> None:
    text = shown(view)
    assert "\x1b" not in text
    for part in parts:
        assert part in text


OPTIONS = (QuestionOption(id="y", label="Yes"), QuestionOption(id="n", label="No"))


@pytest.mark.parametrize(
    ("typed", "extra", "answer"),
    [
        ("1", {}, AnswerChoice(ids=("y",))),
        ("3", {}, None),
        ("0", {}, None),
        ("1,2", {}, None),
        ("2, 1,2", {"multi": True}, AnswerChoice(ids=("n", "y"))),
        ("yes", {}, None),
        ("yes", {"free_text": True}, AnswerText(text="yes")),
        ("7", {"free_text": True}, AnswerText(text="7")),
        ("yes", {"options": ()}, AnswerText(text="yes")),
        ("²", {}, None),
    ],
)
def test_what_is_typed_is_numbers_of_options_or_words_where_they_are_allowed(
    typed: str, extra: dict[str, Any], answer: Any
) -> None:
    question = Question(**{"question": "?", "options": OPTIONS, **extra})
    assert read_answer(question, typed) == answer


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("2\n", {"kind": "choice", "ids": ["n"]}),
        ("x\n1\n", {"kind": "choice", "ids": ["y"]}),
        ("\n", {"kind": "cancel"}),
        ("\x03", {"kind": "cancel"}),
        ("x\nx\nx\n", {"kind": "cancel"}),
    ],
)
def test_a_question_at_a_terminal_is_answered_there(typed: str, answer: Any) -> None:
    host, terminal = pty.openpty()
    wake, other = os.pipe()
    try:
        ask._take_over(terminal, termios.tcgetattr(terminal))
        os.write(host, typed.encode())
        question = Question(question="Go\x1b?", options=OPTIONS)
        said = questions._talk(terminal, wake, "stub", question, time.monotonic() + 10)
        text = ""
        while "return for no answer  > " not in text:
            text += os.read(host, 65536).decode()
    finally:
        for descriptor in (host, terminal, wake, other):
            os.close(descriptor)
    assert write(said) == answer
    assert "plugin stub asks" in text
    assert "Go\\x1b?" in text
    assert isinstance(said, AnswerCancel | AnswerChoice)
