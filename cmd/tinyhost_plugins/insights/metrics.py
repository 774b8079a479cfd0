"""The samples in config/metrics, which has Prometheus's text form."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from .loading import Loaded

_FILE = "config/metrics"
# Far more than the operator asks for.
_MOST = 100_000
_LABEL = re.compile(r'(?:^|,) ?(\w+)="((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Sample:
    """One value with its labels."""

    labels: dict[str, str]
    value: float


def samples(loaded: Loaded, name: str) -> Iterator[Sample]:
    """The samples of a metric, in the file's order; lines that make no sense are passed over.

    Those that are too many are left out, which is noted.
    """
    count = 0
    # Only a newline ends a line: a label's value may have all other signs.
    for entry in loaded.text(_FILE).split("\n"):
        if entry.startswith(name) and entry[len(name) : len(name) + 1] in ("{", " "):
            found = _sample(entry[len(name) :])
            if found is None:
                continue
            if count == _MOST:
                loaded.left_out[_FILE] = f"over {_MOST} samples of {name}"
                return
            count += 1
            yield found


def _sample(rest: str) -> Sample | None:
    labels, after = "", rest
    if rest.startswith("{"):
        end = rest.rfind("}")
        labels, after = rest[1:end], rest[end + 1 :]
    try:
        value = float(after.split()[0])
    except (ValueError, IndexError):
        return None
    if not math.isfinite(value):
        return None
    return Sample({key: _unescape(text) for key, text in _LABEL.findall(labels)}, value)


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda found: "\n" if found[1] == "n" else found[1], text)
