"""What the commands show of limits and sandboxes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

Cli = Any  # of conftest.py

SAY = {"say": {"result": {"content": "hello"}}}
LIMITS = {"memory": "512MiB", "cpu": "60s", "openFiles": 256, "processes": 64, "nice": 5}
IN_NUMBERS = {"memory": 2**29, "cpu": 60.0, "openFiles": 256, "processes": 64, "nice": 5}


def facts(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines()]


@pytest.fixture
def empty(tmp_path: Path) -> str:
    """A PATH with nothing on it."""
    (tmp_path / "empty").mkdir()
    return str(tmp_path / "empty")


def test_load_shows_the_limits_and_the_sandbox_in_force(tinyhost: Cli) -> None:
    tinyhost.plugin("mine", tools=SAY)
    sandbox = {"read": ["."], "engine": "bubblewrap", "write": ["${SUB}"]}
    tinyhost.configure({"settings": {"mine": {"limits": LIMITS, "sandbox": sandbox}}})
    (tinyhost.project / "sub").mkdir()
    [found] = tinyhost.json("plugin", "load", "mine", env={"SUB": "sub"})["plugins"]
    assert found["limits"] == IN_NUMBERS
    assert found["sandbox"] == {
        "engine": "bubblewrap",
        "read": [str(tinyhost.project)],
        "write": [str(tinyhost.project / "sub")],
        "network": False,
        "gaps": [],
    }
    lines = facts(tinyhost.ok("plugin", "load", "mine", env={"SUB": "sub"}))
    assert ["limits", "memory 512MiB, cpu 60 s, open files 256, processes 64, nice 5"] in lines
    assert ["sandbox", "by bubblewrap, without network"] in lines
    assert [f"writes {tinyhost.project}/sub"] in [line[1:] for line in lines]


def test_info_shows_what_is_configured(tinyhost: Cli) -> None:
    tinyhost.plugin("mine", tools=SAY)
    tinyhost.plugin("free", tools=SAY)
    sandbox = {"read": ["${SOURCES:-src}"], "network": True}
    mine = {"limits": LIMITS, "sandbox": sandbox, "inheritEnv": True, "passEnv": ["MY_TOKEN"]}
    tinyhost.configure({"settings": {"mine": mine}})
    settings = tinyhost.json("plugin", "info", "mine")["settings"]
    assert settings["limits"] == IN_NUMBERS
    expected = {"read": ["${SOURCES:-src}"], "write": [], "network": True, "engine": "auto"}
    assert settings["sandbox"] == expected
    assert settings["inheritEnv"] is True
    lines = facts(tinyhost.ok("plugin", "info", "mine"))
    assert ["variables passed", "all but secrets, MY_TOKEN"] in lines
    words = "by auto, with network; reads ${SOURCES:-src}; writes nothing"
    assert ["sandbox", words] in lines
    lines = facts(tinyhost.ok("plugin", "info", "free"))
    assert ["sandbox", "none"] in lines
    assert ["limits", "-"] in lines
    loaded = tinyhost.json("plugin", "info", "mine", "--load", env={"SOURCES": "."})["loaded"]
    assert loaded["sandbox"]["read"] == [str(tinyhost.project)]


def sandbox_checks(cli: Cli, code: int, **env: str) -> list[tuple[str, str]]:
    checks = cli.json("doctor", code=code, env=env)["checks"]
    return [(check["level"], check["text"]) for check in checks if check["what"] == "sandbox"]


def test_doctor_says_what_confines_plugins_here(tinyhost: Cli) -> None:
    tinyhost.plugin("mine", tools=SAY)
    tinyhost.configure({"plugins": ["mine"], "settings": {"mine": {"sandbox": True}}})
    [(level, text)] = sandbox_checks(tinyhost, 0)
    assert level == "ok"
    assert "/bwrap and Landlock, version " in text


def test_doctor_misses_bubblewrap_where_a_plugin_wants_it(tinyhost: Cli, empty: str) -> None:
    tinyhost.plugin("mine", tools=SAY)
    for engine, code, level in (("bubblewrap", 1, "problem"), ("auto", 0, "warning")):
        settings = {"mine": {"sandbox": {"engine": engine}}}
        tinyhost.configure({"plugins": ["mine"], "settings": settings})
        first, second = sandbox_checks(tinyhost, code, PATH=empty)
        assert first[0] == level
        assert "bubblewrap (the program bwrap) is not installed" in first[1]
        assert second[0] == "ok"


def test_doctor_is_silent_where_no_plugin_is_to_be_confined(tinyhost: Cli) -> None:
    tinyhost.plugin("mine", tools=SAY)
    tinyhost.configure({"plugins": ["mine"], "settings": {"*": {"sandbox": False}}})
    assert sandbox_checks(tinyhost, 0) == []
