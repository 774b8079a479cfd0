"""Options: what is taken, and how a wrong one is answered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tinyhost_plugins.telemetry.options import OptionError, read_options


def test_without_options_the_file_is_in_the_persons_data_folder(home: Path) -> None:
    options = read_options({}, {})
    assert options.database == f"{home}/.local/share/tinyhost-telemetry/telemetry.db"
    assert (options.retention_days, options.max_calls) == (90, 500_000)
    named = read_options({}, {"XDG_DATA_HOME": "/data"})
    assert named.database == "/data/tinyhost-telemetry/telemetry.db"
    relative = read_options({}, {"XDG_DATA_HOME": "data"})
    assert relative.database == options.database


def test_the_variable_names_the_file_and_the_option_wins_over_it(home: Path) -> None:
    environ = {"TELEMETRY_DB": "/data/x.db"}
    assert read_options({}, environ).database == "/data/x.db"
    assert read_options({}, {"TELEMETRY_DB": "x.db"}).database == str(Path.cwd() / "x.db")
    assert read_options({"database": "~/y.db"}, environ).database == f"{home}/y.db"


def test_all_options_are_taken() -> None:
    options = read_options({"database": "/d", "retentionDays": 7, "maxCalls": 1000}, {})
    assert (options.database, options.retention_days, options.max_calls) == ("/d", 7, 1000)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"databse": "/x"}, 'there is no option "databse"; there are database, '),
        ({"database": "x.db"}, '"database" has to be the path of a file that begins with / or ~/'),
        ({"database": 7}, '"database" has to be the path'),
        ({"database": "/a\0b"}, '"database" has to be the path'),
        ({"retentionDays": 0}, '"retentionDays" has to be a whole number from 1 to 3650'),
        ({"retentionDays": True}, '"retentionDays" has to be a whole number'),
        ({"maxCalls": 1.5}, '"maxCalls" has to be a whole number from 1000 to 10000000'),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], text: str) -> None:
    with pytest.raises(OptionError) as caught:
        read_options(options, {})
    assert text in str(caught.value)
