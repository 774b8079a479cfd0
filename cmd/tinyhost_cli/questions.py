"""Questions of bingo plugins, put to the person at the terminal."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from tinyhost.bingo.asking_types import (
    Answer,
    AnswerCancel,
    AnswerChoice,
    AnswerText,
    Question,
    QuestionOption,
)
from tinyhost.bingo.forms import read, write
from tinyhost_cli import ask

_TRIES = 3


async def put_question(plugin: str, question: Mapping[str, Any]) -> Mapping[str, Any]:
    """The person's answer, in bingo's form; silence and Ctrl+C cancel."""
    asked = read(Question, dict(question))
    deadline = time.monotonic() + ask.TIMEOUT

    def talk(terminal: int, wake: int) -> Answer:
        return _talk(terminal, wake, plugin, asked, deadline)

    answer: dict[str, Any] = write(await ask.at_terminal(talk, AnswerCancel()))
    return answer


def _talk(terminal: int, wake: int, plugin: str, question: Question, deadline: float) -> Answer:
    width = ask.width_of(terminal)
    lines = list(ask.block(f"plugin {plugin} asks", question.question, width))
    for number, option in enumerate(question.options, 1):
        lines += _option_lines(number, option, width)
    ask.write(terminal, "\n".join(["tinyhost: a question", *lines]) + "\n")
    for _ in range(_TRIES):
        ask.write(terminal, f"{_how(question)}  > ")
        typed = ask.read_line(terminal, wake, deadline)
        if typed is None or not typed.strip():
            break
        answer = read_answer(question, typed.strip())
        if answer is not None:
            return answer
        ask.write(terminal, "that is not one of the answers\n")
    ask.write(terminal, "no answer\n")
    return AnswerCancel()


def _option_lines(number: int, option: QuestionOption, width: int) -> list[str]:
    text = f"{option.label}: {option.description}" if option.description else option.label
    return list(ask.block(str(number), text, width))


def _how(question: Question) -> str:
    ways = []
    if question.options:
        ways.append("numbers, with commas" if question.multi else "a number")
    if question.free_text or not question.options:
        ways.append("your own words")
    return f"{' or '.join(ways)}, return for no answer"


def read_answer(question: Question, typed: str) -> Answer | None:
    """What was typed as an answer: numbers of options, or words where they are allowed."""
    chosen = _chosen(question, typed)
    if chosen:
        return AnswerChoice(ids=tuple(option.id for option in chosen))
    return AnswerText(text=typed) if question.free_text or not question.options else None


def _chosen(question: Question, typed: str) -> list[QuestionOption]:
    words = [word.strip() for word in typed.split(",")]
    numbers = [int(word) for word in words if word.isascii() and word.isdigit()]
    fits = len(numbers) == len(words) and all(1 <= n <= len(question.options) for n in numbers)
    if not fits or (len(numbers) > 1 and not question.multi):
        return []
    return [question.options[number - 1] for number in dict.fromkeys(numbers)]
