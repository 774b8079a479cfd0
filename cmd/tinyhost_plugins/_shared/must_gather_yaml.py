"""YAML and JSON of unknown origin as plain values, within bounds of depth and size.

PyYAML's C parser reads the events; the values are put together here, so that no tag makes an object
of another type, times stay texts, and an alias costs what it stands for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

_DEEPEST = 100
# Values of a whole file, with what aliases stand for.
MOST_VALUES = 2_000_000
_LOOK = 5000  # events of the parser between looks at the time; some hundredths of a second
_NULLS = {"", "~", "null", "Null", "NULL"}
_FLAGS = dict.fromkeys(("true", "True", "TRUE"), True)
_FLAGS |= dict.fromkeys(("false", "False", "FALSE"), False)
_INTEGER = re.compile(r"[-+]?[0-9]{1,30}|0x[0-9a-fA-F]{1,16}|0o[0-7]{1,22}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]{1,40}|[0-9]{1,40}(?:\.[0-9]{0,40})?)(?:[eE][-+]?[0-9]{1,3})?")


class FormatError(Exception):
    """The text is neither YAML nor JSON, or goes past a bound."""


def documents(
    text: str,
    *,
    most: int = MOST_VALUES,
    deepest: int = _DEEPEST,
    is_over: Callable[[], bool] = lambda: False,
) -> Iterator[Any]:
    """The documents of a text, the empty ones left out.

    is_over: asked again and again; True ends the reading. Raises FormatError, also after some.
    """
    start = text.lstrip("\ufeff \t\r\n")[:1]
    if start and start in "{[":
        try:
            yield json.loads(text.lstrip("\ufeff"))
            return
        except RecursionError:
            raise FormatError("nested too deeply") from None
        except ValueError:
            # It may be several values after each other, or YAML that begins with a brace.
            pass
    yield from _yaml(text, _Builder(most, deepest, is_over))


def _yaml(text: str, builder: _Builder) -> Iterator[Any]:
    try:
        import yaml
    except ImportError:
        raise FormatError("PyYAML is not installed; install it to read YAML") from None
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for value in builder.documents(yaml.parse(text, Loader=loader)):
            if value is not None:
                yield value
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" in line {mark.line + 1}" if mark is not None else ""
        raise FormatError(f"no valid YAML: {error.problem}{where}") from None
    except yaml.YAMLError as error:
        raise FormatError(f"no valid YAML: {str(error).splitlines()[0]:.200}") from None


class _Builder:
    """Puts values together from the parser's events, without recursion."""

    def __init__(self, most: int, deepest: int, is_over: Callable[[], bool]) -> None:
        self._left = most
        self._deepest = deepest
        self._is_over = is_over
        self._anchors: dict[str, tuple[Any, int]] = {}
        # The containers that are open: value, a key that waits for its value, anchor, budget before.
        self._open: list[tuple[Any, list[Any], str | None, int]] = []

    def documents(self, events: Iterable[Any]) -> Iterator[Any]:
        from yaml import events as kinds

        self._whole: Any = None
        for number, event in enumerate(events):
            if number % _LOOK == 0 and self._is_over():
                raise FormatError("the time was over")
            kind = type(event)
            if kind is kinds.ScalarEvent:
                is_text = event.style or event.tag or self._awaits_key()
                value = event.value if is_text else scalar(event.value)
                self._spend(1)
                if event.anchor is not None:
                    self._anchors[event.anchor] = (value, 1)
                self._put(value)
            elif kind is kinds.MappingStartEvent:
                self._begin({}, event.anchor)
            elif kind is kinds.SequenceStartEvent:
                self._begin([], event.anchor)
            elif kind is kinds.MappingEndEvent or kind is kinds.SequenceEndEvent:
                self._end()
            elif kind is kinds.AliasEvent:
                self._alias(event.anchor)
            elif kind is kinds.DocumentEndEvent:
                yield self._whole
                self._whole = None
                self._anchors.clear()

    def _awaits_key(self) -> bool:
        """Keys are texts, as they are in JSON, also when they look like numbers."""
        return bool(self._open) and isinstance(self._open[-1][0], dict) and not self._open[-1][1]

    def _begin(self, value: Any, anchor: str | None) -> None:
        if len(self._open) >= self._deepest:
            raise FormatError(f"nested deeper than {self._deepest} levels")
        before = self._left
        self._spend(1)
        self._open.append((value, [], anchor, before))

    def _end(self) -> None:
        value, _key, anchor, before = self._open.pop()
        if anchor is not None:
            self._anchors[anchor] = (value, before - self._left)
        self._put(value)

    def _alias(self, anchor: str) -> None:
        # An alias within what it stands for is not known yet, so there are no cycles.
        if anchor not in self._anchors:
            raise FormatError(f"the alias {anchor:.40} stands for nothing before it")
        value, size = self._anchors[anchor]
        self._spend(size)
        self._put(value)

    def _spend(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise FormatError("more values than are read of a file")

    def _put(self, value: Any) -> None:
        if not self._open:
            self._whole = value
            return
        container, waiting, _anchor, _before = self._open[-1]
        if isinstance(container, list):
            container.append(value)
        elif waiting:
            container[waiting.pop()] = value
        else:
            waiting.append(_key(value))


def _key(value: Any) -> str:
    """A key; that of an alias may have stood for anything."""
    if isinstance(value, dict | list):
        raise FormatError("a key that is no text")
    return value if isinstance(value, str) else json.dumps(value)


def scalar(text: str) -> Any:
    """The value of a plain scalar: null, true or false, a number, or else the text."""
    if text in _NULLS:
        return None
    if text in _FLAGS:
        return _FLAGS[text]
    if text[0] in "0123456789+-.":
        if _INTEGER.fullmatch(text):
            # "0123" is 123 in YAML 1.2, and no number that Kubernetes writes.
            return int(text, 16 if text[:2] == "0x" else 8 if text[:2] == "0o" else 10)
        if _FLOAT.fullmatch(text):
            return float(text)
    return text
