"""`tinyhost plugin`: load, list, info, registry, path, enable, disable, new."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tinyhost import registry
from tinyhost_cli import plugin_edit, scaffold

Cli = Any  # of conftest.py

SAY = {"say": {"result": {"content": "hello"}}}
GREET = {"session.start": {"result": {}}, "dispose": {"result": {}}}


def rows(text: str) -> list[list[str]]:
    """The lines of a table in a pipe, without the headers."""
    return [line.split("\t") for line in text.splitlines()[1:]]


# --- load


def test_load_shows_what_a_plugin_offers_and_stops_it(tinyhost: Cli) -> None:
    program = tinyhost.plugin("mine", version="2.1", tools=SAY, hooks=GREET)
    title, *lines = tinyhost.ok("plugin", "load", "mine").splitlines()
    assert title == "mine loaded"
    facts = [line.split("\t") for line in lines]
    assert ["version", "2.1"] in facts
    assert ["program", str(program)] in facts
    assert ["hooks", "session.start"] in facts
    assert ["tools", "plugin__mine__say  The say tool"] in facts
    assert dict(facts)["id"].startswith("plg_")
    assert dict(facts)["pid"].isdigit()
    assert "ms to spawn" in dict(facts)["start"]
    assert tinyhost.disposed("mine")


def test_load_as_json_has_all_that_is_known(tinyhost: Cli) -> None:
    program = tinyhost.plugin("mine", version="2.1", tools=SAY, hooks=GREET)
    [found] = tinyhost.json("plugin", "load", "mine")["plugins"]
    assert found.pop("id").startswith("plg_")
    assert found.pop("pid") > 1
    assert set(found.pop("counters").values()) == {0}
    assert 0 < found.pop("spawnMs") + found.pop("handshakeMs") <= found.pop("ms")
    assert found == {
        "name": "mine",
        "loaded": True,
        "version": "2.1",
        "dialect": "native",
        "state": "ready",
        "message": None,
        "path": str(program),
        "hooks": ["session.start", "dispose"],
        "tools": [
            {
                "id": "plugin__mine__say",
                "name": "say",
                "plugin": "mine",
                "description": "The say tool\nin full",
                "inputSchema": {"type": "object", "properties": {}},
                "permission": None,
            }
        ],
        "capabilities": {},
        "limits": {},
        "sandbox": None,
    }


def test_restart_tries_a_plugin_that_failed(tinyhost: Cli) -> None:
    program = tinyhost.plugins / "mine"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    assert tinyhost("plugin", "restart", "mine").returncode == 1
    tinyhost.plugin("mine", tools=SAY)
    assert tinyhost.ok("plugin", "restart", "mine").startswith("mine loaded\n")


def test_a_plugin_that_fails_to_load_does_not_harm_the_others(tinyhost: Cli) -> None:
    tinyhost.plugin("good", hooks=GREET)
    broken = tinyhost.plugins / "broken"
    broken.write_text("#!/bin/sh\necho out of paper >&2\nexit 3\n")
    broken.chmod(0o755)
    done = tinyhost("plugin", "load", "broken", "good")
    assert done.returncode == 1
    assert done.stdout.startswith("good loaded\n")
    assert "tinyhost: plugin broken failed to load at handshake" in done.stderr
    assert "exited with status 3" in done.stderr
    assert "| out of paper" in done.stderr
    failed, good = tinyhost.json("plugin", "load", "broken", "good", code=1)["plugins"]
    assert (failed["name"], failed["loaded"], good["loaded"]) == ("broken", False, True)
    assert failed["error"]["type"] == "LoadError"
    assert failed["error"]["stage"] == "handshake"
    assert failed["error"]["command"] == [str(broken)]
    assert failed["error"]["stderr"] == "out of paper\n"


def test_load_hands_on_the_options_given_or_configured(tinyhost: Cli) -> None:
    tinyhost.plugin("mine")
    tinyhost.configure({"disabledPlugins": [["mine", {"from": "config"}]]})

    def version(*args: str, **extra: Any) -> Any:
        # The plugin answers with its options for a version.
        return json.loads(
            tinyhost.json("plugin", "load", "mine", *args, **extra)["plugins"][0]["version"]
        )

    assert version() == {"from": "config"}
    assert version("--options", '{"big": 18446744073709551617}') == {"big": 2**64 + 1}
    assert version("--options", "-", input='\ufeff{"from": "stdin"}\n') == {"from": "stdin"}


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("{", "The value of --options is not JSON: "),
        ('{"a": NaN}', "The value of --options is not JSON: "),
        ("[]", "The value of --options must be a JSON object"),
    ],
)
def test_options_that_are_not_an_object_are_a_usage_error(
    tinyhost: Cli, value: str, reason: str
) -> None:
    done = tinyhost("plugin", "load", "mine", "--options", value)
    assert done.returncode == 2
    assert reason in done.stderr


def test_input_that_is_not_utf8_is_a_usage_error(tinyhost: Cli) -> None:
    done = tinyhost("plugin", "load", "mine", "--options", "-", input=b'{"a": "\xff"}')
    assert done.returncode == 2
    assert "not UTF-8" in done.stderr


def test_options_for_two_plugins_are_a_usage_error(tinyhost: Cli) -> None:
    done = tinyhost("plugin", "load", "one", "two", "--options", "{}")
    assert done.returncode == 2
    assert "--options is for one plugin" in done.stderr


def test_loading_tells_of_progress_in_a_pipe_only_when_asked(tinyhost: Cli) -> None:
    tinyhost.plugin("mine")
    assert tinyhost("plugin", "load", "mine").stderr == ""
    assert "tinyhost: plugin mine loaded after " in tinyhost("plugin", "load", "mine", "-v").stderr


def test_a_plugin_works_in_the_directory_that_is_named(tinyhost: Cli, tmp_path: Path) -> None:
    program = tinyhost.plugins / "where"
    result = '{\\"jsonrpc\\":\\"2.0\\",\\"id\\":1,\\"result\\":{\\"version\\":\\"$PWD\\"}}'
    program.write_text(f'#!/bin/sh\nread line\necho "{result}"\ncat\n')
    program.chmod(0o755)
    line = ("plugin", "load", "where")
    [here] = tinyhost.json(*line)["plugins"]
    [there] = tinyhost.json(*line, "--directory", str(tmp_path))["plugins"]
    assert (here["version"], there["version"]) == (str(tinyhost.project), str(tmp_path))
    assert tinyhost(*line, "--directory", "nowhere").returncode == 2


# --- list


def test_list_shows_the_configured_plugins_and_starts_none(tinyhost: Cli) -> None:
    program = tinyhost.plugin("mine", hooks=GREET)
    tinyhost.configure(
        {
            "plugins": [["mine", {"token": "secret-word"}], "gone"],
            "disabledPlugins": ["safety-net"],
        }
    )
    text = tinyhost.ok("plugin", "list")
    assert rows(text)[:2] == [
        ["mine", "enabled", "-", "plugin folder", str(program), "token"],
        ["gone", "enabled", "-", "-", "not found", "-"],
    ]
    assert rows(text)[2][:2] == ["safety-net", "disabled"]
    assert "secret-word" not in text
    assert not tinyhost.state.exists()


def test_list_as_json(tinyhost: Cli) -> None:
    program = tinyhost.plugin("mine")
    tinyhost.configure({"plugins": [["mine", {"a": 1}], "handoff"]})
    assert tinyhost.json("plugin", "list")["plugins"] == [
        {
            "name": "mine",
            "state": "enabled",
            "path": str(program),
            "source": "plugin folder",
            "problem": None,
            "options": ["a"],
            "running": None,
        },
        {
            "name": "handoff",
            "state": "enabled",
            "path": None,
            "source": "built in",
            "problem": None,
            "options": [],
            "running": None,
        },
    ]


def test_list_all_has_installed_plugins_too(tinyhost: Cli) -> None:
    tinyhost.plugin("mine")
    tinyhost.plugin("other")
    tinyhost.configure({"plugins": ["mine"]})
    states = {row[0]: row[1] for row in rows(tinyhost.ok("plugin", "list", "--all"))}
    assert (states["mine"], states["other"]) == ("enabled", "installed")


def test_an_empty_list_says_how_to_add_a_plugin(tinyhost: Cli) -> None:
    done = tinyhost("plugin", "list")
    assert (done.returncode, done.stdout) == (0, "")
    assert "tinyhost plugin enable NAME" in done.stderr
    assert tinyhost.json("plugin", "list") == {"plugins": []}


# --- info

SECRETS = {
    "plugins": [
        ["mine", {"apiToken": "tok-123456", "pin": {"password": 1234}, "url": "http://u:pw9876@h/"}]
    ],
    "settings": {
        "*": {"timeouts": {"hook": "250ms"}},
        "mine": {"env": {"LEVEL": "env-value"}, "passEnv": ["AWS_*"]},
    },
}


def test_info_shows_settings_without_secrets(tinyhost: Cli) -> None:
    tinyhost.plugin("mine")
    tinyhost.configure(SECRETS)
    text = tinyhost.ok("plugin", "info", "mine")
    assert "state\tenabled" in text
    assert "hook 0.25 s" in text
    assert "variables set\tLEVEL" in text
    assert f"log\t{tinyhost.state}/logs/plugin-mine.log" in text
    value = tinyhost.json("plugin", "info", "mine")
    assert value["options"] == {
        "apiToken": "[redacted]",
        "pin": {"password": "[redacted]"},
        "url": "http://u:[redacted]@h/",
    }
    assert value["settings"]["env"] == ["LEVEL"]
    assert value["settings"]["passEnv"] == ["AWS_*"]
    for shown in (text, json.dumps(value), tinyhost.ok("config", "show")):
        for secret in ("tok-123456", "1234", "pw9876", "env-value"):
            assert secret not in shown


def test_info_of_a_plugin_that_only_the_registry_knows(tinyhost: Cli) -> None:
    done = tinyhost("plugin", "info", "tekton")
    assert done.returncode == 0
    assert "state\tnot configured" in done.stdout
    assert "program\tnot installed" in done.stdout
    assert "It is known" in done.stderr
    value = tinyhost.json("plugin", "info", "tekton")
    entry = registry.lookup("tekton")
    assert entry is not None
    assert value["registry"]["description"] == entry.description
    assert value["program"] == {"path": None, "source": None, "problem": "not installed"}
    assert "loaded" not in value


def test_info_with_load_shows_what_the_plugin_offers(tinyhost: Cli) -> None:
    tinyhost.plugin("mine", tools=SAY, hooks=GREET)
    assert "tools\tplugin__mine__say" in tinyhost.ok("plugin", "info", "mine", "--load")
    loaded = tinyhost.json("plugin", "info", "mine", "--load")["loaded"]
    assert [tool["name"] for tool in loaded["tools"]] == ["say"]
    assert tinyhost.disposed("mine")
    done = tinyhost("plugin", "info", "tekton", "--load")
    assert done.returncode == 1
    assert "plugin not found: tekton" in done.stderr


# --- registry


def test_registry_lists_all_known_plugins(tinyhost: Cli) -> None:
    tinyhost.plugin("tekton")
    found = rows(tinyhost.ok("plugin", "registry"))
    assert [row[0] for row in found] == [entry.name for entry in registry.entries()]
    installed = {row[0]: row[2] for row in found}
    assert (installed["tekton"], installed["rhacs"]) == ("yes", "no")


def test_registry_finds_a_word(tinyhost: Cli) -> None:
    [entry] = tinyhost.json("plugin", "registry", "TEKTON")["plugins"]
    assert (entry["name"], entry["installed"]) == ("tekton", False)
    done = tinyhost("plugin", "registry", "no such word")
    assert (done.returncode, done.stdout) == (1, "")
    assert "nothing with 'no such word'" in done.stderr
    assert tinyhost.json("plugin", "registry", "no such word", code=1) == {"plugins": []}


# --- path


def test_path_shows_which_program_is_used_and_why_others_are_not(
    tinyhost: Cli, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    tinyhost.env["PATH"] = f"{first}:{second}:{tinyhost.env['PATH']}"
    for folder in (first, second):
        folder.mkdir()
        tinyhost.plugin("tinyhost-plugin-mine", folder=folder)
    (first / "tinyhost-plugin-mine").chmod(0o644)
    mine = tinyhost.plugin("mine")
    listed = rows(tinyhost.ok("plugin", "path", "mine"))
    assert listed[0] == [str(mine), "plugin folder", "used"]
    assert listed[1][0] == str(first / "tinyhost-plugin-mine")
    assert "not executable" in listed[1][2]
    assert listed[2][1:] == ["PATH", "not used: another one is first"]
    mine.unlink()
    value = tinyhost.json("plugin", "path", "mine")
    assert value["used"] == str(second / "tinyhost-plugin-mine")
    assert [found["usable"] for found in value["candidates"]] == [False, True]
    assert [found["used"] for found in value["candidates"]] == [False, True]


def test_path_fails_when_no_program_is_used(tinyhost: Cli) -> None:
    done = tinyhost("plugin", "path", "nowhere")
    assert (done.returncode, done.stdout) == (1, "")
    assert "plugin not found: nowhere" in done.stderr
    tinyhost.plugin("mine").chmod(0o666)
    value = tinyhost.json("plugin", "path", "mine", code=1)
    assert value["used"] is None
    assert "can be written by everybody" in value["candidates"][0]["problem"]


# --- enable and disable


def test_enable_and_disable_change_the_configuration_and_keep_its_comments(tinyhost: Cli) -> None:
    tinyhost.plugin("mine")
    tinyhost.configure('{\n  // keep me\n  "plugins": ["other"]\n}\n')
    assert tinyhost.ok("plugin", "enable", "mine", "--options", '{"a": 1}') == (
        f"mine is enabled now in {tinyhost.file}\n"
    )
    assert "was enabled already" in tinyhost.ok("plugin", "enable", "mine")
    text = tinyhost.file.read_text()
    assert "// keep me" in text
    assert '["mine", {"a": 1}]' in text
    assert "is disabled now" in tinyhost.ok("plugin", "disable", "mine")
    assert tinyhost.json("plugin", "list")["plugins"][1]["state"] == "disabled"
    assert tinyhost.json("plugin", "enable", "mine") == {
        "name": "mine",
        "enabled": True,
        "changed": True,
        "file": str(tinyhost.file),
    }
    assert tinyhost.json("plugin", "list")["plugins"][1]["options"] == ["a"]


def test_enable_makes_a_missing_file_and_tells_of_a_plugin_that_is_not_there(
    tinyhost: Cli,
) -> None:
    done = tinyhost("plugin", "enable", "tekton", "--config", "new.json")
    assert done.returncode == 0
    assert "it cannot be loaded yet: plugin not found: tekton" in done.stderr
    assert json.loads((tinyhost.project / "new.json").read_text())["plugins"] == ["tekton"]


def test_disable_says_when_there_was_nothing_to_do(tinyhost: Cli) -> None:
    tinyhost.configure({"plugins": ["mine"]})
    assert "was not enabled" in tinyhost.ok("plugin", "disable", "mien")
    assert tinyhost.json("plugin", "disable", "mien")["changed"] is False


def test_a_file_that_cannot_be_parsed_is_not_changed(tinyhost: Cli) -> None:
    tinyhost.configure("{oops")
    assert tinyhost("plugin", "enable", "mine").returncode == 3
    assert tinyhost.file.read_text() == "{oops"


# --- new


def test_the_languages_are_those_that_there_are_templates_for() -> None:
    assert plugin_edit.LANGUAGES == scaffold.LANGUAGES


def test_new_writes_a_plugin_and_says_how_to_test_and_try_it(tinyhost: Cli) -> None:
    text = tinyhost.ok("plugin", "new", "mine")
    folder = tinyhost.project / "mine"
    assert (folder / "plugin").is_file()
    commands = [line.strip() for line in text.splitlines() if line.startswith("  ")]
    assert commands[0] == f"cd {folder}"
    # All that is said there can be done, up to the call of the tool.
    shim = tinyhost.project / "tinyhost"
    shim.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m tinyhost_cli.main "$@"\n')
    shim.chmod(0o755)
    path = f"{tinyhost.project}:{tinyhost.env['PATH']}"
    done = subprocess.run(
        ["sh", "-e", "-c", "\n".join(commands)],
        env=tinyhost.env | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("Hello, World!")


def test_new_as_json(tinyhost: Cli, tmp_path: Path) -> None:
    value = tinyhost.json("plugin", "new", "mine", "--lang", "go", "--dir", str(tmp_path))
    assert value["folder"] == str(tmp_path / "mine")
    assert value["lang"] == "go"
    assert "main.go" in value["files"]
    assert value["buildCommand"][0] == value["testCommand"][0] == "go"
    assert "plugin__mine__greet" in value["tryCommand"]


def test_new_overwrites_nothing(tinyhost: Cli) -> None:
    (tinyhost.project / "mine").mkdir()
    done = tinyhost("plugin", "new", "mine")
    assert done.returncode == 1
    assert "exists already" in done.stderr
    assert tinyhost("plugin", "new", "Bad Name").returncode == 2
    assert tinyhost("plugin", "new", "mine", "--lang", "cobol").returncode == 2
