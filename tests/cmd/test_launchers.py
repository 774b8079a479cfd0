"""What the commands say of plugins that are started by a launcher."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from .conftest import Cli

LAUNCH = ["nice", "-n", "1"]


def configure(cli: Cli, **settings: Any) -> Path:
    """A plugin "far", which is in no place that is looked at here."""
    program = cli.plugin("mine", tools={"say": {"result": {"content": "hello"}}})
    far = program.rename(cli.project / "far plugin")
    settings = {"launch": LAUNCH, "remoteCommand": [sys.executable, str(far)], **settings}
    cli.configure({"plugins": ["far"], "settings": {"far": settings}})
    return far


def test_info_shows_the_launcher_and_the_command_behind_it(tinyhost: Cli) -> None:
    far = configure(tinyhost, remoteShell=False)
    found = tinyhost.json("plugin", "info", "far", "--load")
    assert found["program"] == {"path": "nice", "source": "launcher", "problem": None}
    assert found["settings"]["launch"] == LAUNCH
    assert found["settings"]["remoteCommand"] == [sys.executable, str(far)]
    assert found["settings"]["remoteShell"] is False
    assert found["loaded"]["path"].endswith("/nice")
    text = tinyhost.ok("plugin", "info", "far")
    assert "nice -n 1" in text
    assert f"{sys.executable} '{far}'" in text


def test_info_of_other_plugins_has_no_launcher(tinyhost: Cli) -> None:
    tinyhost.plugin("mine")
    settings = tinyhost.json("plugin", "info", "mine")["settings"]
    assert (settings["launch"], settings["remoteCommand"]) == ([], None)
    assert "launcher" not in tinyhost.ok("plugin", "info", "mine")


def test_a_plugin_behind_a_launcher_is_listed_checked_and_called(tinyhost: Cli) -> None:
    configure(tinyhost)
    [row] = tinyhost.json("plugin", "list")["plugins"]
    assert (row["path"], row["source"]) == ("nice", "launcher")
    assert tinyhost.json("plugin", "path", "far") == {
        "name": "far",
        "used": "nice",
        "candidates": [],
    }
    assert "(launcher)" in tinyhost.ok("doctor")
    assert tinyhost.ok("tool", "call", "plugin__far__say", "--plugin", "far").strip() == "hello"


def test_a_plugin_behind_a_launcher_cannot_be_pinned(tinyhost: Cli) -> None:
    configure(tinyhost)
    done = tinyhost("plugin", "pin", "far")
    assert done.returncode != 0
    assert "far has a launcher: what runs behind that cannot be compared" in done.stderr
    assert not (tinyhost.config / "tinyhost.lock").exists()


def test_info_shows_a_pin_that_a_launcher_makes_useless(tinyhost: Cli) -> None:
    tinyhost.plugin("far")
    tinyhost.ok("plugin", "pin", "far")
    configure(tinyhost)
    problem = tinyhost.json("plugin", "info", "far")["pin"]["problem"]
    assert "it is pinned, but has a launcher" in problem


def test_the_plugins_own_check_is_asked_for_behind_the_launcher(tinyhost: Cli) -> None:
    configure(tinyhost, launch=["sh", "-c"], remoteShell=True, remoteCommand=["echo", "it's"])
    assert tinyhost.ok("plugin", "doctor", "far") == "it's\n"


def test_a_launcher_that_fails_is_quoted(tinyhost: Cli) -> None:
    script = tinyhost.project / "jump"
    script.write_text("#!/bin/sh\necho no way to the box >&2\nexit 255\n")
    script.chmod(0o755)
    configure(tinyhost, launch=[str(script)])
    done = tinyhost("plugin", "load", "far")
    assert done.returncode == 1
    assert "exited with status 255" in done.stderr
    assert "no way to the box" in done.stderr


def test_a_launcher_that_cannot_be_read_is_told(tinyhost: Cli) -> None:
    configure(tinyhost, launch="nice")
    found = json.loads(tinyhost("plugin", "info", "far", "--json").stdout)
    assert found["program"]["problem"] == "its setting launch cannot be read"
    assert "settings.far.launch" in tinyhost("config", "validate").stdout
