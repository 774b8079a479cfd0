from __future__ import annotations

import importlib.resources
import json
import subprocess
import sys

import jsonschema
import pytest

from tinyhost import config_schema
from tinyhost.config import parse_config

VALIDATOR = jsonschema.Draft202012Validator(config_schema.build())

GOOD = [
    {},
    {"$schema": "x", "plugins": []},
    {"plugins": None},
    {"plugins": ["a", ["b"], ["c", None], ["d", {"any": [1, {"x": None}]}]]},
    {"disabledPlugins": ["x", ["y", {"n": 1}]]},
    {"compat": ["tinycode", "zuno", "bingo"]},
    {"settings": {}},
    {"settings": {"*": {}, "a.b_c-9": {"timeouts": {}}}},
    {
        "settings": {
            "a": {
                "timeouts": {
                    "handshake": "500ms",
                    "hook": 1,
                    "tool": 0.5,
                    "toolCap": "1h",
                    "stop": "1.5s",
                },
                "env": {"A": "", "_b": "${C:-d}"},
                "passEnv": ["A", "AWS_*"],
                "directory": "~/x",
                "maxLineBytes": 1024,
                "onGuardFailure": "skip",
                "onOutputFailure": "withhold",
            }
        }
    },
    {"settings": {"a": {"launch": ["ssh", "box"], "remoteCommand": ["x", "-y", ""]}}},
    {"settings": {"a": {"launch": [], "remoteCommand": [], "remoteShell": True}}},
    {"hooks": {"session.start": []}, "mcpServers": {}, "permissions": {}},
    {"hooks": None},
    {"hooks": {"session.end": None, "permission.ask": [{"command": "true"}]}},
    {
        "hooks": {
            "tool.execute.before": [
                {"command": "x", "match": {"tool": "bash", "SESSION": "s*"}, "timeout": 3},
                {"command": "y", "timeout": "2s", "match": {}},
            ]
        }
    },
]
BAD = [
    {"plugin": []},
    {"plugins": "a"},
    {"plugins": {}},
    {"plugins": [None]},
    {"plugins": [1]},
    {"plugins": [{}]},
    {"plugins": [[]]},
    {"plugins": [["a", {}, {}]]},
    {"plugins": [["a", 1]]},
    {"plugins": [[1]]},
    {"plugins": [""]},
    {"plugins": ["A"]},
    {"plugins": ["a..b"]},
    {"plugins": ["a/b"]},
    {"plugins": ["a" * 65]},
    {"disabledPlugins": [True]},
    {"compat": "tinycode"},
    {"compat": ["other"]},
    {"compat": None},
    {"settings": []},
    {"settings": {"A": {}}},
    {"settings": {"a": 1}},
    {"settings": {"a": {"unknown": 1}}},
    {"settings": {"a": {"timeouts": []}}},
    {"settings": {"a": {"timeouts": {"handshakes": 1}}}},
    {"settings": {"a": {"timeouts": {"hook": "soon"}}}},
    {"settings": {"a": {"timeouts": {"hook": 0}}}},
    {"settings": {"a": {"timeouts": {"hook": True}}}},
    {"settings": {"a": {"timeouts": {"hook": None}}}},
    {"settings": {"a": {"timeouts": {"hook": 86401}}}},
    {"settings": {"a": {"env": {"A": None}}}},
    {"settings": {"a": {"env": {"A-B": "x"}}}},
    {"settings": {"a": {"passEnv": ["*"]}}},
    {"settings": {"a": {"passEnv": [1]}}},
    {"settings": {"a": {"directory": ""}}},
    {"settings": {"a": {"directory": 1}}},
    {"settings": {"a": {"maxLineBytes": 1}}},
    {"settings": {"a": {"maxLineBytes": "1024"}}},
    {"settings": {"a": {"onGuardFailure": "no"}}},
    {"settings": {"a": {"onGuardFailure": False}}},
    {"settings": {"a": {"onOutputFailure": "ask"}}},
    {"settings": {"a": {"launch": "ssh box"}}},
    {"settings": {"a": {"launch": None}}},
    {"settings": {"a": {"launch": ["ssh", 1]}}},
    {"settings": {"a": {"launch": [""]}}},
    {"settings": {"a": {"remoteCommand": ["-c"]}}},
    {"settings": {"a": {"remoteCommand": {}}}},
    {"settings": {"a": {"remoteShell": "yes"}}},
    {"hooks": []},
    {"hooks": {"shell.env": []}},
    {"hooks": {"session.start": {}}},
    {"hooks": {"session.start": ["true"]}},
    {"hooks": {"session.start": [{}]}},
    {"hooks": {"session.start": [{"command": " "}]}},
    {"hooks": {"session.start": [{"command": ["true"]}]}},
    {"hooks": {"session.start": [{"command": "x", "timeout": 0}]}},
    {"hooks": {"session.start": [{"command": "x", "match": "bash"}]}},
    {"hooks": {"session.start": [{"command": "x", "match": {"tools": "x"}}]}},
    {"hooks": {"session.start": [{"command": "x", "match": {"session": 1}}]}},
    {"hooks": {"session.start": [{"command": "x", "when": "y"}]}},
]


def test_the_shipped_schema_is_the_generated_one() -> None:
    shipped = importlib.resources.files("tinyhost").joinpath("data/config.schema.json")
    # If this fails: python -m tinyhost.config_schema > tinyhost/data/config.schema.json
    assert shipped.read_text(encoding="utf-8") == config_schema.text()


def test_the_module_prints_the_schema() -> None:
    command = [sys.executable, "-m", "tinyhost.config_schema"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout == config_schema.text()


def test_the_schema_is_itself_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(config_schema.build())


def test_every_key_has_a_description() -> None:
    schema = config_schema.build()
    for part in (schema, schema["$defs"]["plugin"], schema["$defs"]["timeouts"]):
        assert all(len(key["description"]) > 10 for key in part["properties"].values())


@pytest.mark.parametrize("value", GOOD, ids=json.dumps)
def test_what_the_schema_accepts_loads_without_a_problem(value: object) -> None:
    VALIDATOR.validate(value)
    assert parse_config(json.dumps(value), "/f").problems == ()


@pytest.mark.parametrize("value", BAD, ids=json.dumps)
def test_what_the_schema_refuses_has_a_problem_when_loaded(value: object) -> None:
    assert not VALIDATOR.is_valid(value)
    assert parse_config(json.dumps(value), "/f").problems
