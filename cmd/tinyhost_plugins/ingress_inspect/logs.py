"""Errors in the logs of router pods."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, cast

from .._shared.must_gather import MustGather, MustGatherError
from .._shared.texts import line
from .options import Options
from .pace import Pace

_PLACE = "namespaces/openshift-ingress/pods/router-*/**/*.log*"
_ENDINGS = (".log", ".log.gz")
_MOST_FILES = 200
_LONGEST = 4096
# A packed log has no end that could be read alone. So many times as much is read of its beginning.
_GZIP, _PACKED = b"\x1f\x8b", 64
_WORDS = re.compile(rb"error|failed|panic|fatal|\[(?:ALERT|EMERG)\]", re.IGNORECASE)
# The container beside the router that writes a line for each request, with words of strangers.
_ACCESS_LOG = "logs"
# The severity of a line of the router's own, after the time that a container's log begins with.
_SEVERITY = re.compile(rb"(?:\d{4}-\S{1,40} )?([IWEF])\d{4} \d\d:\d\d:\d\d")


@dataclass(frozen=True, slots=True)
class LogErrors:
    """errors: lines that tell of an error. last: the last of them. is_tail: not read from the start."""

    path: str
    errors: int
    last: str
    is_tail: bool


def read_logs(mg: MustGather, options: Options, pace: Pace) -> Iterator[LogErrors]:
    """The logs, by path. What is not read is noted among the must-gather's faults."""
    logs = (mg.relative(found) for found in mg.find(_PLACE) if found.name.endswith(_ENDINGS))
    for number, path in enumerate(path for path in logs if path.split("/")[4] != _ACCESS_LOG):
        if number >= _MOST_FILES:
            mg.tree.note(path, f"over {_MOST_FILES} logs of routers")
            return
        pace.is_over(f"reading {path}")
        try:
            yield _read(mg, path, options.max_log_bytes, pace)
        except MustGatherError as error:
            mg.tree.note(path, str(error).removeprefix(f"{path} "))
        except OSError as error:
            mg.tree.note(path, error.strerror or "it cannot be read")
        except (EOFError, zlib.error) as error:
            mg.tree.note(path, f"it is damaged: {error}")


def _read(mg: MustGather, path: str, most: int, pace: Pace) -> LogErrors:
    errors, last, start = 0, b"", 0
    with mg.open(path) as file:
        if file.read(len(_GZIP)) == _GZIP:
            file.seek(0)
            file, most = cast("BinaryIO", gzip.GzipFile(fileobj=file)), most * _PACKED
        else:
            start = max(os.fstat(file.fileno()).st_size - most, 0)
            file.seek(start)
        if start:
            _skip_line(file, most)
        for entry in pace.paced(_lines(file, most), f"reading {path}"):
            if is_error(entry):
                errors, last = errors + 1, entry
    return LogErrors(path, errors, line(last.decode("utf-8", "replace"), 200), start > 0)


def _lines(file: BinaryIO, most: int) -> Iterator[bytes]:
    """Lines, each cut after some bytes, until so many bytes have been read in all."""
    while most > 0 and (entry := file.readline(_LONGEST)):
        yield entry
        most -= len(entry)
        if not entry.endswith(b"\n"):
            most -= _skip_line(file, most)


def _skip_line(file: BinaryIO, most: int) -> int:
    """Go to the end of the line, or over about so many bytes of it. Returns how many it were."""
    skipped = 0
    while skipped < most and (part := file.readline(65536)):
        skipped += len(part)
        if part.endswith(b"\n"):
            break
    return skipped


def is_error(entry: bytes) -> bool:
    """Whether a line tells of an error: by its severity where it has one, else by its words."""
    severity = _SEVERITY.match(entry)
    if severity is not None and severity[1] in b"IEF":
        return severity[1] != b"I"
    return _WORDS.search(entry) is not None
