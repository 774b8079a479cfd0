"""Journal records as one line of text each, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tinyhost.codec import dumps

_SHORT = 200  # characters of one value


def line_of(record: Mapping[str, Any]) -> str:
    """One line: time, number, kind, what was decided or done, and the other fields."""
    rest = {key: value for key, value in record.items() if key not in ("t", "seq", "kind")}
    words = [record["t"], f"#{record['seq']}", record["kind"]]
    tell = {"hook": _hook, "decision": _decision, "call": _call}.get(record["kind"], _other)
    words += tell(rest)
    words += [f"{key}={_short(value)}" for key, value in rest.items() if value not in (None, "")]
    return " ".join(word for word in words if word)


# Each of these takes what it tells out of the fields; the others follow as they are.


def _hook(fields: dict[str, Any]) -> Iterator[str]:
    yield _text(fields.pop("hook", "?"))
    yield _text(fields.pop("tool", ""))
    answers = fields.pop("answers", None)
    for answer in answers if isinstance(answers, list) else ():
        if isinstance(answer, Mapping):
            said = "failed" if "error" in answer else "answered"
            if "error" not in answer and answer.get("output") is None:
                said = "had no opinion"
            yield f"[{_text(answer.get('name', '?'))} {said} in {_ms(answer.get('ms'))}]"


def _decision(fields: dict[str, Any]) -> Iterator[str]:
    yield _text(fields.pop("decision", "?"))
    yield _text(fields.pop("tool", ""))
    by, plugin = fields.pop("by", ""), fields.pop("plugin", "")
    yield " ".join(_text(word) for word in ("by", by, plugin) if word)
    if reason := fields.pop("reason", ""):
        yield f"({_text(reason)})"


def _call(fields: dict[str, Any]) -> Iterator[str]:
    yield _text(fields.pop("tool", "?"))
    yield "failed" if fields.pop("isError", False) else "ok"
    yield f"in {_ms(fields.pop('ms', None))}"


def _other(fields: dict[str, Any]) -> Iterator[str]:
    yield _text(fields.pop("plugin", ""))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else dumps(value)


def _short(value: Any) -> str:
    text = dumps(value)
    return text if len(text) <= _SHORT else f"{text[:_SHORT]}..."


def _ms(value: Any) -> str:
    return f"{value:.1f} ms" if isinstance(value, int | float) else "? ms"
