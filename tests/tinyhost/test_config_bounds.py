"""The settings that bound what plugins use and reach: as written, checked, and merged."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from tinyhost import config_schema
from tinyhost.config import Config, parse_config
from tinyhost.model import Limits, Sandbox

VALIDATOR = jsonschema.Draft202012Validator(config_schema.build())

GOOD: list[dict[str, Any]] = [
    {"inheritEnv": True},
    {"limits": {}},
    {"limits": {"memory": "512MiB", "cpu": "60s", "openFiles": 256, "processes": 64, "nice": 5}},
    {"limits": {"memory": 2**30, "cpu": 1.5, "openFiles": 8, "processes": 1, "nice": 0}},
    {
        "limits": {
            "memory": "unlimited",
            "cpu": "unlimited",
            "openFiles": "unlimited",
            "processes": "unlimited",
        }
    },
    {"sandbox": True},
    {"sandbox": False},
    {"sandbox": {}},
    {"sandbox": {"read": ["."], "write": ["${X:-/y}"], "network": True, "engine": "landlock"}},
]
BAD: list[dict[str, Any]] = [
    {"inheritEnv": "yes"},
    {"inheritEnv": 1},
    {"limits": []},
    {"limits": {"memory": "lots"}},
    {"limits": {"memory": 1024}},
    {"limits": {"memory": 1.5}},
    {"limits": {"memory": True}},
    {"limits": {"cpu": "soon"}},
    {"limits": {"cpu": None}},
    {"limits": {"openFiles": 7}},
    {"limits": {"openFiles": "256"}},
    {"limits": {"processes": 0}},
    {"limits": {"processes": 1.5}},
    {"limits": {"nice": -1}},
    {"limits": {"nice": 20}},
    {"limits": {"nice": "unlimited"}},
    {"limits": {"files": 3}},
    {"sandbox": 1},
    {"sandbox": "bubblewrap"},
    {"sandbox": []},
    {"sandbox": {"read": "/"}},
    {"sandbox": {"read": [""]}},
    {"sandbox": {"write": [1]}},
    {"sandbox": {"network": "no"}},
    {"sandbox": {"engine": "docker"}},
    {"sandbox": {"allow": []}},
]


def load(settings: object) -> Config:
    return parse_config(json.dumps({"settings": settings}), "/etc/tiny/config.json")


@pytest.mark.parametrize("form", GOOD, ids=json.dumps)
def test_what_the_schema_accepts_loads_without_a_problem(form: dict[str, Any]) -> None:
    VALIDATOR.validate({"settings": {"a": form}})
    assert load({"a": form}).problems == ()


@pytest.mark.parametrize("form", BAD, ids=json.dumps)
def test_what_the_schema_refuses_has_a_problem_when_loaded(form: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid({"settings": {"a": form}})
    assert load({"a": form}).problems


def test_settings_are_read_in_bytes_seconds_and_counts() -> None:
    limits = {"memory": "1GiB", "cpu": "2m", "openFiles": 99, "processes": 9, "nice": 1}
    sandbox = {"read": ["a"], "write": ["b"], "network": True, "engine": "landlock"}
    found = load({"a": {"limits": limits, "sandbox": sandbox, "inheritEnv": True}})
    settings = found.settings_for("a")
    assert settings.limits == Limits(memory=2**30, cpu=120.0, open_files=99, processes=9, nice=1)
    assert settings.sandbox is not None
    assert list(settings.sandbox.read) == ["a"]
    assert list(settings.sandbox.write) == ["b"]
    assert (settings.sandbox.network, settings.sandbox.engine) == (True, "landlock")
    assert settings.inherit_env


def test_by_default_nothing_is_bounded_and_nothing_inherited() -> None:
    settings = load({}).settings_for("a")
    assert (settings.limits, settings.sandbox, settings.inherit_env) == (Limits(), None, None)


def test_a_plugins_own_limits_win_over_those_of_all_one_by_one() -> None:
    everyone = {"limits": {"memory": "64MiB", "cpu": "5s", "nice": 3}}
    found = load({"*": everyone, "a": {"limits": {"cpu": "9s", "memory": "unlimited"}}})
    assert found.settings_for("a").limits == Limits(cpu=9.0, nice=3)
    assert found.settings_for("b").limits == Limits(memory=64 * 2**20, cpu=5.0, nice=3)


def test_a_plugins_own_sandbox_wins_over_that_of_all_key_by_key() -> None:
    everyone = {"sandbox": {"read": ["/a"], "write": ["/b"]}}
    found = load(
        {
            "*": everyone,
            "own": {"sandbox": {"read": ["/c"], "network": True}},
            "free": {"sandbox": False},
            "same": {"sandbox": True},
        }
    )
    own, same = found.settings_for("own").sandbox, found.settings_for("same").sandbox
    assert own is not None
    assert (list(own.read), list(own.write), own.network) == (["/c"], ["/b"], True)
    assert same is not None
    assert list(same.read) == ["/a"]
    assert found.settings_for("free").sandbox is None


@pytest.mark.parametrize("value", [1, "yes", [], None, {"read": "/"}, {"network": "yes"}])
def test_a_sandbox_that_makes_no_sense_is_the_strictest_and_not_none(value: object) -> None:
    found = load({"a": {"sandbox": value}})
    assert found.problems
    assert found.settings_for("a").sandbox == Sandbox()


def test_a_directory_with_references_waits_for_them() -> None:
    found = load({"a": {"directory": "${BASE}/x"}, "b": {"directory": "sub/${X:-..}/y"}})
    assert found.settings_for("a").directory == "${BASE}/x"
    assert found.settings_for("b").directory == "/etc/tiny/sub/${X:-..}/y"
