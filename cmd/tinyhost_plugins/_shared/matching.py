"""Looking for a regular expression that somebody gave, in bounded time.

Some patterns take Python for ever on some lines, and nothing in the same process can end that. So
the search runs in a process of its own (matching_worker.py), which is ended when the time is over.
"""

from __future__ import annotations

import json
import re
import selectors
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TypeVar

from tinyhost_sdk import HandlerError

from . import matching_worker
from .pace import Pace
from .texts import Span

T = TypeVar("T")

LONGEST_PATTERN = 500
LONGEST_LINE = 4096  # characters of a line that are looked at
_BATCH_LINES, _BATCH_CHARACTERS = 2000, 512 * 1024
_POLL, _GRACE = 0.1, 1.0  # seconds


class Matcher(AbstractContextManager["Matcher"]):
    """Tells which texts a pattern matches, and where. what: the parameter's name, for errors.

    Raises HandlerError for a pattern that is not valid, or that takes longer than is left.
    """

    def __init__(self, pattern: str, what: str, pace: Pace, *, any_case: bool = False) -> None:
        check(pattern, what)
        self._what = what
        self._pace = pace
        seconds = int(pace.left()) + 5
        # The alarm ends the worker also when this process is gone.
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", matching_worker.__file__, str(seconds)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise HandlerError(f"{what}: no process to search with: {error.strerror}") from None
        # Sent with the first lines, when `__exit__` is sure to end the process.
        self._first: dict[str, object] = {"pattern": pattern, "any_case": any_case}

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    pass
        self._process.wait()

    def select(self, items: Iterable[T], text: Callable[[T], str]) -> Iterator[T]:
        """The items whose texts match, in their order."""
        return (item for item, _span in self.find(items, text))

    def find(self, items: Iterable[T], text: Callable[[T], str]) -> Iterator[tuple[T, Span]]:
        """The items whose texts match, in their order, with the place of the first match in each."""
        batch: list[T] = []
        lines: list[str] = []
        characters = 0
        for item in items:
            batch.append(item)
            lines.append(text(item)[:LONGEST_LINE])
            characters += len(lines[-1])
            if len(batch) >= _BATCH_LINES or characters >= _BATCH_CHARACTERS:
                yield from ((batch[at], (start, end)) for at, start, end in self._matches(lines))
                batch, lines, characters = [], [], 0
        if batch:
            yield from ((batch[at], (start, end)) for at, start, end in self._matches(lines))

    def _matches(self, lines: list[str]) -> list[tuple[int, int, int]]:
        if self._first:
            self._send(self._first)
            self._first = {}
        self._send(lines)
        out = self._process.stdout
        assert out is not None
        # What was read until the time was over is still looked at.
        end = time.monotonic() + max(self._pace.left(), _GRACE)
        with selectors.DefaultSelector() as selector:
            selector.register(out, selectors.EVENT_READ)
            last = False  # another look is due when this process stood still until the end
            while not selector.select(_POLL):
                self._pace.is_over(f"looking for the {self._what}")
                late, last = last, time.monotonic() >= end
                if late:
                    raise HandlerError(
                        f"{self._what}: the search took longer than {self._pace.seconds:g} seconds;"
                        " use a simpler pattern, without repeats of repeats"
                    )
        # The worker writes an answer at once, so what has begun is soon there.
        answer = out.readline()
        if not answer:
            raise HandlerError(f"{self._what}: the search ended unexpectedly; call again")
        found = json.loads(answer)
        assert isinstance(found, list)
        return found

    def _send(self, value: object) -> None:
        into = self._process.stdin
        assert into is not None
        try:
            into.write(json.dumps(value).encode() + b"\n")
            into.flush()
        except BrokenPipeError:
            raise HandlerError(f"{self._what}: the search ended unexpectedly; call again") from None


def check(pattern: str, what: str) -> None:
    """Raises HandlerError when a pattern is no valid regular expression, or too long."""
    if len(pattern) > LONGEST_PATTERN:
        raise HandlerError(f"{what} is longer than {LONGEST_PATTERN} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise HandlerError(f"{what} is no valid regular expression: {error}") from None
