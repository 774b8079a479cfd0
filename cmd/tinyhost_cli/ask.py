"""Asking the person at their terminal whether a call may go ahead.

The question goes to the terminal itself, /dev/tty, because standard input and output may be
data. Whatever comes from elsewhere is shown so that it can neither command the terminal nor
pass for a line of the question.
"""

from __future__ import annotations

import json
import os
import select
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import trio

from tinyhost.asking import Asker, Headless, Question, Reply
from tinyhost.codec import loads
from tinyhost.permissions import Action, Reason, ReasonKind, ToolUse

_T = TypeVar("_T")

TERMINAL = "/dev/tty"
TIMEOUT = 300.0  # seconds until silence is a no

_TRIES = 3
_MAX_ANSWER = 1024  # bytes of one answer
_HEAD, _TAIL = 1500, 500  # characters shown of long arguments, from both ends
_MAX_LINES = 40
_INTERRUPT = b"\x03"  # Ctrl+C
_WORDS = {
    "o": Reply.ONCE,
    "once": Reply.ONCE,
    "s": Reply.SESSION,
    "session": Reply.SESSION,
    "p": Reply.PROJECT,
    "project": Reply.PROJECT,
    "n": Reply.NO,
    "no": Reply.NO,
    "": Reply.NO,
}


def choose_asker(
    config_file: str, *, json_output: bool = False, environ: Mapping[str, str] | None = None
) -> Asker:
    """The person at the terminal, or nobody: with --json, in CI, and without a terminal."""
    env = os.environ if environ is None else environ
    in_ci = env.get("CI", "").lower() not in ("", "0", "false", "no")
    if json_output or in_ci or not _can_ask():
        return Headless(config_file)
    return TerminalAsker()


def _can_ask() -> bool:
    """Whether there is a terminal, and this program is the one in its foreground."""
    try:
        terminal = _open()
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _open() -> int:
    return os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)


class TerminalAsker:
    """Asks at the terminal. timeout: seconds to wait for an answer."""

    def __init__(self, timeout: float = TIMEOUT) -> None:
        self._timeout = timeout

    async def ask(self, question: Question) -> Reply:
        """The person's answer; NO for an empty one, Ctrl+C, Ctrl+D, and silence.

        When it is cancelled, it takes the question back before it returns.
        """

        def talk(terminal: int, wake: int) -> Reply:
            return _talk(terminal, wake, question, time.monotonic() + self._timeout)

        return await at_terminal(talk, Reply.NO)

    def refusal(self, question: Question) -> str:
        """Say that it was the person, and why they were asked."""
        why = "; ".join(map(str, question.reasons))
        return f"the person at the terminal did not allow it (asked because {why})"


def answer_for_host(asked: Mapping[str, Any]) -> Mapping[str, str]:
    """Put a running host's question, as surfaces.callers has it, to the person: their reply.

    A host that waits no longer is noticed when the next answer is sent to it.
    """
    question = _question(asked)
    asker = TerminalAsker()

    def talk(terminal: int, wake: int) -> Reply:
        return _talk(terminal, wake, question, time.monotonic() + TIMEOUT)

    wake_read, wake_write = os.pipe()
    try:
        reply = _in_thread(talk, Reply.NO, wake_read)
    finally:
        os.close(wake_read)
        os.close(wake_write)
    return {"reply": reply.value, "refusal": asker.refusal(question)}


def _question(asked: Mapping[str, Any]) -> Question:
    use = {**asked["use"], "args": loads(asked["argsText"].encode("utf-8", "surrogatepass"))}
    reasons = [
        Reason(
            ReasonKind(reason["kind"]),
            reason["who"],
            reason["text"],
            Action(reason["action"]) if reason["action"] else None,
        )
        for reason in asked["reasons"]
    ]
    return Question(use=ToolUse(**use), session_id=asked["session"], reasons=reasons)


async def at_terminal(talk: Callable[[int, int], _T], otherwise: _T) -> _T:
    """Run `talk` in a thread with the terminal to itself; what it returns, or `otherwise`.

    It gets the terminal's descriptor, and one that becomes readable when nobody waits for the
    answer any more. Without a terminal it does not run.
    """
    wake_read, wake_write = os.pipe()
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_close_when_cancelled, wake_write)
            said = await trio.to_thread.run_sync(_in_thread, talk, otherwise, wake_read)
            nursery.cancel_scope.cancel()
    finally:
        os.close(wake_read)
    return said


def _in_thread(talk: Callable[[int, int], _T], otherwise: _T, wake: int) -> _T:
    try:
        if not _can_ask():
            return otherwise
        terminal = _open()
    except OSError:
        return otherwise
    try:
        saved = termios.tcgetattr(terminal)
        try:
            _take_over(terminal, saved)
            return talk(terminal, wake)
        finally:
            termios.tcsetattr(terminal, termios.TCSADRAIN, saved)
    except (OSError, termios.error):
        return otherwise
    finally:
        os.close(terminal)


async def _close_when_cancelled(descriptor: int) -> None:
    try:
        await trio.sleep_forever()
    finally:
        os.close(descriptor)


def _take_over(terminal: int, saved: list[Any]) -> None:
    """Whole lines with the terminal's own editing; Ctrl+C ends a line instead of the program."""
    attributes = [*saved[:6], list(saved[6])]
    attributes[3] |= termios.ICANON | termios.ECHO
    attributes[3] &= ~termios.ISIG
    attributes[6][termios.VEOL] = _INTERRUPT
    # What was typed before the question was seen is no answer to it.
    termios.tcsetattr(terminal, termios.TCSAFLUSH, attributes)


def _talk(terminal: int, wake: int, question: Question, deadline: float) -> Reply:
    write(terminal, "\n".join(question_lines(question, width_of(terminal))) + "\n")
    offered = question.replies
    choices = "  ".join(_CHOICE[reply] for reply in offered)
    for _ in range(_TRIES):
        write(terminal, f"{choices}  > ")
        typed = read_line(terminal, wake, deadline)
        if typed is None:
            write(terminal, "\nnot allowed\n")
            return Reply.NO
        reply = _WORDS.get(typed.strip().lower())
        if reply is not None and reply in offered:
            return reply
        write(terminal, "answer with one letter, or with return for no\n")
    write(terminal, "not allowed\n")
    return Reply.NO


_CHOICE = {
    Reply.ONCE: "[o]nce",
    Reply.SESSION: "always this [s]ession",
    Reply.PROJECT: "always in this [p]roject",
    Reply.NO: "[N]o",
}


def write(terminal: int, text: str) -> None:
    """Write text to the terminal."""
    data = text.encode("utf-8", "backslashreplace")
    while data:
        data = data[os.write(terminal, data) :]


def read_line(terminal: int, wake: int, deadline: float) -> str | None:
    """One line, or None for Ctrl+C, end of input, silence, and when nobody waits any more."""
    ready, _, _ = select.select([terminal, wake], [], [], max(0.0, deadline - time.monotonic()))
    if not ready or wake in ready:
        return None
    line = os.read(terminal, _MAX_ANSWER)
    # A line that has no end is the end of input behind something typed.
    if _INTERRUPT in line or not line.endswith((b"\n", b"\r")):
        return None
    return line.decode("utf-8", "replace")


def width_of(terminal: int) -> int:
    """Characters in a line."""
    try:
        return max(20, os.get_terminal_size(terminal).columns or 80)
    except OSError:
        return 80


# --- the text of the question


def question_lines(question: Question, width: int = 80) -> Iterator[str]:
    """The question in lines of at most `width` characters where it is not our own text."""
    yield "tinyhost: may this call go ahead?"
    yield from block("tool", question.tool_id, width)
    if question.directory:
        yield from block("directory", question.directory, width)
    yield from block("arguments", _shown_args(question), width)
    for reason in question.reasons:
        yield from block("asked because", str(reason), width)
    scope = "this very command" if question.use.subject.commands else "any arguments"
    yield f"  always this session: this tool with {scope}"
    if question.project_rule is not None:
        yield from block("always in this project", question.project_rule, width)


def block(title: str, text: str, width: int) -> Iterator[str]:
    """A title, and the text in lines that all begin with a bar."""
    yield f"  {title}:"
    room = width - 6
    for line in _cut(text).split("\n"):
        safe = visible(line)
        for start in range(0, max(1, len(safe)), room):
            yield f"    | {safe[start : start + room]}"


def _cut(text: str) -> str:
    """The beginning and the end of a long text: what matters may stand in either."""
    if len(text) > _HEAD + _TAIL:
        left_out = len(text) - _HEAD - _TAIL
        text = f"{text[:_HEAD]}\n[... {left_out} characters not shown ...]\n{text[-_TAIL:]}"
    lines = text.split("\n")
    if len(lines) > _MAX_LINES:
        half = _MAX_LINES // 2
        note = f"[... {len(lines) - 2 * half} lines not shown ...]"
        lines = [*lines[:half], note, *lines[-half:]]
    return "\n".join(lines)


def _shown_args(question: Question) -> str:
    """A lone command as it is, other arguments as indented JSON."""
    args = question.use.args
    if args is None:
        return question.args_text
    if isinstance(args, dict) and len(args) == 1 and question.use.subject.commands:
        return question.use.subject.commands[0]
    return json.dumps(args, indent=2, ensure_ascii=False)


def visible(text: str) -> str:
    """Text with every character that is not plainly visible written as an escape."""
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
