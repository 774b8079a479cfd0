"""What a host in service tells on standard error: text at a terminal, elsewhere JSON lines.

A line of JSON has `t` (RFC 3339, UTC), `level`, `logger` and `message`, and `error` with a
traceback where there is one.
"""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

from tinyhost.codec import dumps
from tinyhost.journal_records import timestamp
from tinyhost_cli import output

if TYPE_CHECKING:
    from tinyhost.running import RunningHost

_log = logging.getLogger("tinyhost.serve")


def start(*, verbose: bool) -> None:
    """Show the host's log from now on."""
    text = sys.stderr.isatty()
    handler = _TextHandler() if text else _JsonHandler()
    log = logging.getLogger("tinyhost")
    log.addHandler(handler)
    log.setLevel(logging.DEBUG if verbose else logging.INFO)
    log.propagate = False
    # What libraries warn of has the same form, so that whatever reads the log can read it.
    logging.getLogger().addHandler(handler)


def ready(running: RunningHost) -> None:
    """All have been loaded or have failed."""
    count = len(running.host.manager.plugins)
    _log.info("ready: %d plugins, built in ones too", count)
    for surface, address in running.addresses.items():
        _log.info("%s: %s", surface, address)
    if sys.stderr.isatty() and "http" in running.addresses:
        _show_page(running.addresses["http"], running.addresses["httpToken"])


def failed(error: Exception) -> int:
    """Tell why the host could not go on, and return the exit code.

    Raises the error at a terminal, where any command's errors are told alike, and where it is a
    fault of our own.
    """
    from tinyhost.errors import TinyhostError
    from tinyhost_cli import main

    cause = main.leaf(error)
    if sys.stderr.isatty() or not isinstance(cause, TinyhostError | OSError):
        raise error
    _log.error("%s", "\n".join([str(cause), *getattr(cause, "__notes__", ())]))
    return main.exit_code(cause)


def _show_page(address: str, token_file: str) -> None:
    """At a terminal only: a log that is kept must not hold the token."""
    from pathlib import Path

    from tinyhost.surfaces.http.access import page_url, read_token

    output.note(f"tinyhost: open {page_url(address, read_token(Path(token_file)))}")


class _TextHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        word = "" if record.levelno < logging.WARNING else f"{record.levelname.lower()}: "
        output.problem(word + self.format(record))


class _JsonHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        line = {
            "t": timestamp(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["error"] = logging.Formatter().formatException(record.exc_info)
        output.note(dumps(line))
