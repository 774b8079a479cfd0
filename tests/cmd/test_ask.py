"""The question at a real terminal: a child with a pseudo-terminal of its own."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tinyhost.asking import Headless, Question
from tinyhost.permissions import Action, Reason, ReasonKind, ToolUse
from tinyhost_cli.ask import choose_asker, question_lines, visible

DEFAULT = Reason(ReasonKind.DEFAULT, "program", "a program makes the call", Action.ASK)
RULE = Reason(ReasonKind.RULE, "bash", "the rule asks about it", Action.ASK)
CHOICES = b"[N]o  > "
PATIENCE = 20.0  # seconds until a test gives up waiting

CHILD = """
import json, os, sys, trio
from tinyhost.asking import Question
from tinyhost.permissions import Action, Reason, ReasonKind, ToolUse
from tinyhost_cli.ask import TerminalAsker

kind, timeout, cancel_on_stdin = sys.argv[1], float(sys.argv[2]), sys.argv[3] == "cancel"
reason = Reason(ReasonKind(kind), "bash", "it is so", Action.ASK)
use = ToolUse(tool_id="bash", args={"command": "git push"}, args_text="{}", directory="/proj")
question = Question(use=use, session_id="s", reasons=[reason])

async def main():
    reply = "cancelled"
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            if cancel_on_stdin:
                async def watch():
                    await trio.lowlevel.wait_readable(0)
                    scope.cancel()
                nursery.start_soon(watch)
            reply = (await TerminalAsker(timeout).ask(question)).value
            nursery.cancel_scope.cancel()
    print(json.dumps({"reply": reply, "descriptors": sorted(os.listdir("/proc/self/fd"))}))

trio.run(main)
"""


class Terminal:
    """A child whose terminal this is; its standard input and output are pipes."""

    def __init__(self, kind: str, timeout: float, mode: str, folder: Path) -> None:
        self.master, slave = pty.openpty()
        self.saved = termios.tcgetattr(slave)
        script = folder / "child.py"
        script.write_text(CHILD)

        def own_terminal() -> None:
            out = os.dup(1), os.dup(2), os.dup(0)
            os.login_tty(slave)
            for descriptor, target in zip(out, (1, 2, 0), strict=True):
                os.dup2(descriptor, target)
                os.close(descriptor)

        self.child = subprocess.Popen(
            [sys.executable, str(script), kind, str(timeout), mode],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=own_terminal,  # noqa: PLW1509 (there are no threads here)
            pass_fds=[slave],
        )
        self.slave, self.seen = slave, b""

    def wait_for(self, text: bytes, times: int = 1) -> None:
        deadline = time.monotonic() + PATIENCE
        while self.seen.count(text) < times:
            left = deadline - time.monotonic()
            ready, _, _ = select.select([self.master], [], [], max(0, left))
            assert ready, f"not shown: {text!r} in {self.seen!r}"
            self.seen += os.read(self.master, 4096)

    def type(self, text: bytes) -> None:
        os.write(self.master, text)

    def result(self) -> dict[str, Any]:
        out, errors = self.child.communicate(timeout=PATIENCE)
        assert self.child.returncode == 0, errors
        value = json.loads(out)
        assert isinstance(value, dict)
        return value

    def close(self) -> None:
        if self.child.poll() is None:
            self.child.kill()
            self.child.communicate()
        for stream in (self.child.stdin, self.child.stdout, self.child.stderr):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture
def terminals(tmp_path: Path) -> Iterator[Any]:
    opened: list[Terminal] = []

    def start(kind: str = "default", timeout: float = 60, mode: str = "") -> Terminal:
        opened.append(Terminal(kind, timeout, mode, tmp_path))
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.close()


@pytest.mark.parametrize(
    ("typed", "reply"),
    [
        (b"o\n", "once"),
        (b"ONCE \n", "once"),
        (b"s\n", "session"),
        (b"p\n", "project"),
        (b"n\n", "no"),
        (b"\n", "no"),
        (b"\x03", "no"),
        (b"o\x03", "no"),
        (b"\x04", "no"),
        (b"o\x04", "no"),
        (b"x\x7fo\n", "once"),
    ],
)
def test_the_answer_is_what_was_typed(terminals: Any, typed: bytes, reply: str) -> None:
    terminal = terminals()
    terminal.wait_for(CHOICES)
    terminal.type(typed)
    assert terminal.result()["reply"] == reply
    assert termios.tcgetattr(terminal.slave) == terminal.saved


def test_the_question_shows_the_call_and_why_and_the_rule_it_would_write(terminals: Any) -> None:
    terminal = terminals()
    terminal.wait_for(CHOICES)
    shown = terminal.seen.decode()
    for text in ("| bash\r\n", "| /proj\r\n", "| git push\r\n", "| it is so\r\n"):
        assert text in shown
    assert "always in this project:\r\n    | bash(git push)\r\n" in shown
    terminal.type(b"\n")
    terminal.result()


def test_nonsense_is_asked_about_again_and_then_is_a_no(terminals: Any) -> None:
    terminal = terminals()
    for times in (1, 2, 3):
        terminal.wait_for(CHOICES, times)
        terminal.type(b"yes please\n")
    assert terminal.result()["reply"] == "no"


def test_a_second_try_counts(terminals: Any) -> None:
    terminal = terminals()
    terminal.wait_for(CHOICES)
    terminal.type(b"yes please\n")
    terminal.wait_for(CHOICES, 2)
    terminal.type(b"o\n")
    assert terminal.result()["reply"] == "once"


def test_an_answer_that_is_not_offered_is_not_taken(terminals: Any) -> None:
    terminal = terminals("rule")
    terminal.wait_for(CHOICES)
    assert b"[p]roject" not in terminal.seen
    terminal.type(b"p\n")
    terminal.wait_for(CHOICES, 2)
    terminal.type(b"s\n")
    assert terminal.result()["reply"] == "session"


def test_what_was_typed_before_the_question_is_no_answer(terminals: Any) -> None:
    terminal = terminals()
    terminal.type(b"o\no\n")
    terminal.wait_for(CHOICES)
    terminal.type(b"n\n")
    assert terminal.result()["reply"] == "no"


def test_silence_is_a_no(terminals: Any) -> None:
    assert terminals(timeout=0.1).result()["reply"] == "no"


def test_a_terminal_that_goes_away_is_a_no(terminals: Any) -> None:
    terminal = terminals()
    terminal.wait_for(CHOICES)
    # The child leads the terminal's session, so the hang-up reaches it as a signal, too.
    os.close(terminal.master)
    terminal.master = os.open(os.devnull, os.O_RDONLY)
    out, _ = terminal.child.communicate(timeout=PATIENCE)
    assert terminal.child.returncode == -signal.SIGHUP or json.loads(out)["reply"] == "no"


def test_cancelling_takes_the_question_back_and_leaves_nothing(terminals: Any) -> None:
    answered = terminals()
    answered.wait_for(CHOICES)
    answered.type(b"n\n")
    before = answered.result()["descriptors"]
    terminal = terminals(mode="cancel")
    terminal.wait_for(CHOICES)
    terminal.child.stdin.write(b"x")
    terminal.child.stdin.flush()
    result = terminal.result()
    assert (result["reply"], result["descriptors"]) == ("cancelled", before)
    assert termios.tcgetattr(terminal.slave) == terminal.saved


# --- who is asked


CHOOSE = """
import json, os, sys
from tinyhost_cli.ask import choose_asker
options, environ = json.loads(sys.argv[1])
if sys.argv[2] == "background":
    if os.fork():
        os.wait()
        sys.exit()
    os.setpgid(0, 0)
print(type(choose_asker("/c.json", environ=environ, **options)).__name__, flush=True)
"""


def chosen(options: dict[str, bool], environ: dict[str, str], mode: str = "") -> str:
    master, slave = pty.openpty()

    def own_terminal() -> None:
        out = os.dup(1)
        os.login_tty(slave)
        os.dup2(out, 1)

    try:
        run = subprocess.run(
            [sys.executable, "-c", CHOOSE, json.dumps([options, environ]), mode],
            stdout=subprocess.PIPE,
            preexec_fn=own_terminal,
            pass_fds=[slave],
            timeout=PATIENCE,
            check=True,
        )
    finally:
        os.close(master)
        os.close(slave)
    return run.stdout.decode().strip()


@pytest.mark.parametrize(
    ("options", "environ", "mode", "asker"),
    [
        ({}, {}, "", "TerminalAsker"),
        ({}, {"CI": ""}, "", "TerminalAsker"),
        ({}, {"CI": "false"}, "", "TerminalAsker"),
        ({}, {"CI": "true"}, "", "Headless"),
        ({"json_output": True}, {}, "", "Headless"),
        ({}, {}, "background", "Headless"),
    ],
)
def test_the_person_is_asked_only_where_they_can_be(
    options: dict[str, bool], environ: dict[str, str], mode: str, asker: str
) -> None:
    assert chosen(options, environ, mode) == asker


def test_without_a_terminal_nobody_is_asked() -> None:
    run = subprocess.run(
        [sys.executable, "-c", CHOOSE, "[{}, {}]", ""],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        start_new_session=True,
        check=True,
    )
    assert run.stdout.strip() == b"Headless"


def test_headless_names_the_file_it_was_given() -> None:
    asker = choose_asker("/c.json", json_output=True)
    assert isinstance(asker, Headless)
    use = ToolUse(tool_id="x")
    assert "/c.json" in asker.refusal(Question(use=use, session_id="s", reasons=[DEFAULT]))


# --- the text of the question


def lines(use: ToolUse, *reasons: Reason, width: int = 80) -> list[str]:
    asked = Question(use=use, session_id="s", reasons=reasons or (DEFAULT,))
    return list(question_lines(asked, width))


def test_what_could_command_a_terminal_is_shown_as_an_escape() -> None:
    assert visible("a\x1b[2J\r\u202e\u200b\ud800\U000e0041é 漢") == (
        "a\\x1b[2J\\x0d\\u202e\\u200b\\ud800\\U000e0041é 漢"
    )
    use = ToolUse(tool_id="t\x1b", args={"command": "a\x1b]0;x\x07\n  [o]nce"}, directory="/\r")
    text = "\n".join(lines(use, Reason(ReasonKind.RULE, "r", "why\x1b", Action.ASK)))
    assert all(char == "\n" or char.isprintable() for char in text)


def test_no_line_of_the_call_passes_for_one_of_ours() -> None:
    use = ToolUse(tool_id="t", args={"command": "x\ntinyhost: all is well\n" + "y" * 200})
    shown = lines(use, width=40)
    assert "    | tinyhost: all is well" in shown
    ours = [line for line in shown if not line.startswith("    | ")]
    assert not any("well" in line or "yy" in line for line in ours)
    assert all(len(line) <= 40 for line in shown if line.startswith("    | "))


def test_long_arguments_show_both_ends_and_what_is_left_out() -> None:
    use = ToolUse(tool_id="t", args={"command": "start" + "x" * 9000 + "end"}, directory="/p")
    text = "\n".join(lines(use))
    assert "start" in text
    assert "end\n" in text
    assert "[... 7008 characters not shown ...]" in text
    many = "\n".join(lines(ToolUse(tool_id="t", args={"command": "\n".join("ab" * 100)})))
    assert "[... 160 lines not shown ...]" in many


def test_arguments_that_are_no_lone_command_are_shown_as_json() -> None:
    shown = lines(ToolUse(tool_id="t", args={"command": "a", "cwd": "/x"}))
    assert '    |   "command": "a",' in shown
    assert '    |   "cwd": "/x"' in shown
    assert "    | raw" in lines(ToolUse(tool_id="t", args_text="raw"))
