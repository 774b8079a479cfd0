"""What the person has set. Read while the plugin starts, so nothing slow to import is used."""

import os

from .._shared.options import OptionError, check_names, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

DATABASE, RETENTION_DAYS, MAX_CALLS = "database", "retentionDays", "maxCalls"
OPTIONS = (DATABASE, MAX_CALLS, RETENTION_DAYS)

# The least, the default and the most of each option that is a number.
_RANGES = {MAX_CALLS: (1000, 500_000, 10_000_000), RETENTION_DAYS: (1, 90, 3650)}


class Options:
    """database: the absolute path of the file. retention_days: how long calls and sessions are
    kept. max_calls: how many calls are kept.
    """

    __slots__ = ("database", "max_calls", "retention_days")

    def __init__(self, database: str, retention_days: int, max_calls: int) -> None:
        self.database = database
        self.retention_days = retention_days
        self.max_calls = max_calls


def read_options(options: "Mapping[str, Any]", environ: "Mapping[str, str]") -> Options:
    """Check the plugin's options; the environment may name the file, too. Raises OptionError."""
    check_names(options, OPTIONS)
    return Options(
        database=_database(options.get(DATABASE), environ),
        retention_days=number(options, RETENTION_DAYS, _RANGES),
        max_calls=number(options, MAX_CALLS, _RANGES),
    )


def _database(value: object, environ: "Mapping[str, str]") -> str:
    if value is not None:
        path = os.path.expanduser(value) if isinstance(value, str) else ""  # noqa: PTH111
        if not os.path.isabs(path) or "\0" in path:  # noqa: PTH117
            raise OptionError(
                f'option "{DATABASE}" has to be the path of a file that begins with / or ~/'
            )
        return path
    if named := environ.get("TELEMETRY_DB"):
        return os.path.abspath(os.path.expanduser(named))  # noqa: PTH100, PTH111
    return os.path.join(_data_folder(environ), "tinyhost-telemetry", "telemetry.db")  # noqa: PTH118


def _data_folder(environ: "Mapping[str, str]") -> str:
    folder = environ.get("XDG_DATA_HOME", "")
    if not os.path.isabs(folder):  # noqa: PTH117
        folder = os.path.expanduser("~/.local/share")  # noqa: PTH111
    if not os.path.isabs(folder):  # noqa: PTH117
        raise OptionError(f'there is no home folder: set option "{DATABASE}" to the path of a file')
    return folder
