"""`tinyhost plugin pin`, `unpin`, and `enable --pin`."""

from __future__ import annotations

import hashlib
import json
from typing import Any

Cli = Any  # of conftest.py


def pins(cli: Cli) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((cli.config / "tinyhost.lock").read_text())["plugins"]
    return found


def test_enable_with_a_pin_and_disable_without(tinyhost: Cli) -> None:
    program = tinyhost.plugin("mine")
    sha256 = hashlib.sha256(program.read_bytes()).hexdigest()
    value = tinyhost.json("plugin", "enable", "mine", "--pin")
    assert value["pin"]["sha256"] == sha256 == pins(tinyhost)["mine"]["sha256"]
    assert value["pin"]["file"] == str(tinyhost.config / "tinyhost.lock")
    tinyhost.ok("plugin", "load", "mine")
    program.write_text(program.read_text() + "# changed\n")
    done = tinyhost("plugin", "load", "mine")
    assert done.returncode == 1
    assert "failed to load at resolve" in done.stderr
    assert "tinyhost plugin pin mine" in done.stderr
    assert "is pinned in" in tinyhost.ok("plugin", "enable", "mine", "--pin")
    tinyhost.ok("plugin", "load", "mine")
    tinyhost.ok("plugin", "disable", "mine")
    assert pins(tinyhost) == {}


def test_a_plugin_that_cannot_be_pinned_is_not_enabled(tinyhost: Cli) -> None:
    assert tinyhost("plugin", "enable", "nowhere", "--pin").returncode == 1
    assert not tinyhost.file.exists()
    assert not (tinyhost.config / "tinyhost.lock").exists()


def test_pin_and_unpin(tinyhost: Cli) -> None:
    program = tinyhost.plugin("mine")
    text = tinyhost.ok("plugin", "pin", "mine")
    assert f"mine is pinned in {tinyhost.config}/tinyhost.lock: {program}" in text
    assert tinyhost.json("plugin", "unpin", "mine")["unpinned"] is True
    done = tinyhost("plugin", "unpin", "mine")
    assert done.returncode == 1
    assert "mine has no pin" in done.stderr


def test_the_pins_are_beside_the_configuration_that_is_named(tinyhost: Cli) -> None:
    tinyhost.plugin("mine")
    other = tinyhost.project / "other.json"
    other.write_text("{}")
    tinyhost.ok("plugin", "pin", "mine", "--config", "other.json")
    assert (tinyhost.project / "tinyhost.lock").exists()
    assert not (tinyhost.config / "tinyhost.lock").exists()


def test_info_tells_of_the_pin_and_whether_it_holds(tinyhost: Cli) -> None:
    program = tinyhost.plugin("mine")
    assert tinyhost.json("plugin", "info", "mine")["pin"] is None
    assert "pinned\tno\n" in tinyhost.ok("plugin", "info", "mine")
    tinyhost.ok("plugin", "pin", "mine")
    assert tinyhost.json("plugin", "info", "mine")["pin"]["problem"] is None
    assert ", unchanged\n" in tinyhost.ok("plugin", "info", "mine")
    program.write_text(program.read_text() + "# changed\n")
    problem = tinyhost.json("plugin", "info", "mine")["pin"]["problem"]
    assert "has changed since it was pinned" in problem
    program.unlink()
    assert tinyhost.json("plugin", "list")["plugins"] == []
    tinyhost.ok("plugin", "enable", "mine")
    assert tinyhost.json("plugin", "info", "mine")["pin"]["problem"] == "there is no program"


def test_path_shows_what_a_link_leads_to(tinyhost: Cli) -> None:
    program = tinyhost.plugin("mine", folder=tinyhost.project)
    link = tinyhost.plugins / "mine"
    link.symlink_to(program)
    [found] = tinyhost.json("plugin", "path", "mine")["candidates"]
    assert (found["path"], found["target"]) == (str(link), str(program))
    assert f"{link} -> {program}\t" in tinyhost.ok("plugin", "path", "mine")
