"""The files that have a service manager keep a host."""

from __future__ import annotations

import configparser
import os
import plistlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tinyhost.surfaces.serving import GRACE

ROOT = Path(__file__).parents[2]
UNIT = ROOT / "contrib" / "systemd" / "tinyhost.service"
AGENT = ROOT / "contrib" / "launchd" / "local.tinyhost.serve.plist"
PAGE = (ROOT / "docs" / "operations.md").read_text()


@pytest.fixture
def unit() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(UNIT)
    return parser


@pytest.fixture
def home_with_program(tmp_path: Path) -> Path:
    """A home with the program where the files expect it; it tells what it was called with."""
    program = tmp_path / ".local" / "bin" / "tinyhost"
    program.parent.mkdir(parents=True)
    (tmp_path / "Library" / "Logs").mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "$PWD: $*"\necho a word for the log >&2\n')
    program.chmod(0o755)
    return tmp_path


def verify(unit: Path, home: Path) -> str:
    """What systemd has to say against a unit of the person's own manager."""
    program = shutil.which("systemd-analyze")
    assert program, "systemd-analyze is missing; it is in Debian's package systemd"
    done = subprocess.run(
        [program, "--user", "verify", str(unit)],
        env={"HOME": str(home), "XDG_RUNTIME_DIR": str(home), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=60,
    )
    # It looks at whatever the unit depends on, too, and that is this machine's business.
    lines = (done.stdout + done.stderr).splitlines()
    return "\n".join(line for line in lines if unit.stem in line)


def test_systemd_has_nothing_against_the_unit(home_with_program: Path) -> None:
    assert verify(UNIT, home_with_program) == ""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("KillMode=mixed", "KillMode=gently", "gently"),
        ("[Service]", "[Service]\nWatchdog=30", "Watchdog"),
        ("/.local/bin/tinyhost serve", "/nowhere/tinyhost serve", "nowhere"),
    ],
)
def test_systemd_would_have_something_against_a_wrong_one(
    home_with_program: Path, old: str, new: str, said: str
) -> None:
    wrong = home_with_program / "tinyhost.service"
    assert old in UNIT.read_text()
    wrong.write_text(UNIT.read_text().replace(old, new))
    assert said in verify(wrong, home_with_program)


def test_the_unit_gives_the_host_the_time_that_it_may_take(unit: configparser.ConfigParser) -> None:
    service = unit["Service"]
    assert service["Type"] == "notify"
    assert service["KillMode"] == "mixed"
    assert int(service["TimeoutStopSec"]) > GRACE + 10


@pytest.mark.parametrize("key", ["ExecStart", "ExecReload"])
def test_the_units_commands_exist(unit: configparser.ConfigParser, key: str) -> None:
    program, *words = unit["Service"][key].split()
    assert program == "%h/.local/bin/tinyhost"
    done = subprocess.run(
        [sys.executable, "-m", "tinyhost_cli.main", *words, "--help"], capture_output=True
    )
    assert done.returncode == 0


def test_launchds_file_is_a_property_list_with_what_it_needs() -> None:
    agent = plistlib.loads(AGENT.read_bytes())
    assert agent["Label"] == AGENT.stem
    assert agent["KeepAlive"] == {"SuccessfulExit": False}
    assert agent["RunAtLoad"] is True
    assert agent["Umask"] == 0o077
    assert agent["ExitTimeOut"] > GRACE + 10


def test_launchds_words_start_the_host_at_home_with_a_log(home_with_program: Path) -> None:
    agent = plistlib.loads(AGENT.read_bytes())
    done = subprocess.run(
        agent["ProgramArguments"],
        env={**agent["EnvironmentVariables"], "HOME": str(home_with_program)},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == (f"{home_with_program}: serve\n", "")
    log = home_with_program / "Library" / "Logs" / "tinyhost.log"
    assert log.read_text() == "a word for the log\n"


def test_each_setting_is_explained(unit: configparser.ConfigParser) -> None:
    section = PAGE.partition("\n## As a service\n")[2].partition("\n## ")[0]
    explained = set(re.findall(r"`([A-Za-z]+)[`=]", section))
    plain = {"NotifyAccess", "ExecStart", "WorkingDirectory", "Environment", "EnvironmentFile"}
    with_restart = {"RestartSec", "RestartPreventExitStatus"}
    assert set(unit["Service"]) - plain - with_restart <= explained
    agent = {key for key in plistlib.loads(AGENT.read_bytes()) if not key.endswith("Limits")}
    assert agent - {"Label", "RunAtLoad"} <= explained
