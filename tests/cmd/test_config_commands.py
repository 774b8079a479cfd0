"""`tinyhost config` and `tinyhost doctor`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Cli = Any  # of conftest.py


def test_path_prints_the_file_that_is_used(tinyhost: Cli) -> None:
    assert tinyhost.ok("config", "path") == f"{tinyhost.file}\n"
    named = {"TINYHOST_CONFIG": "/etc/other.json"}
    assert tinyhost.ok("config", "path", env=named) == "/etc/other.json\n"
    assert tinyhost.ok("config", "path", "--config", "x.json", env=named) == (
        f"{tinyhost.project}/x.json\n"
    )
    assert tinyhost.json("config", "path") == {
        "file": str(tinyhost.file),
        "exists": False,
        "pluginsDir": str(tinyhost.plugins),
        "stateDir": str(tinyhost.state),
        "logsDir": str(tinyhost.state / "logs"),
    }


def test_show_prints_what_is_understood(tinyhost: Cli) -> None:
    tinyhost.configure(
        """{
          "plugins": ["one", ["two", {"caf\u00e9": "\\u009b", "big": 18446744073709551617}]],
          "disabledPlugins": ["three"], // not now
          "settings": {"two": {"timeouts": {"tool": "2m"}}},
          "compat": ["tinycode"],
        }"""
    )
    value = tinyhost.json("config", "show")
    assert value["file"] == str(tinyhost.file)
    assert value["compat"] == ["tinycode"]
    assert [entry["name"] for entry in value["plugins"]] == ["one", "two"]
    assert [entry["name"] for entry in value["disabledPlugins"]] == ["three"]
    two = value["plugins"][1]
    assert two["options"] == {"caf\u00e9": "\x9b", "big": 2**64 + 1}
    assert two["settings"]["timeouts"]["tool"] == 120.0
    text = tinyhost.ok("config", "show")
    assert '\n  "compat": [' in text
    assert "\\u009b" in text
    assert json.loads(text) == value


def test_validate_tells_what_is_wrong_and_where(tinyhost: Cli) -> None:
    tinyhost.configure('{\n  "plugins": ["good", 5],\n  "plugin": []\n}\n')
    done = tinyhost("config", "validate")
    assert done.returncode == 1
    first, second, last = done.stdout.splitlines()
    assert first.startswith(f"{tinyhost.file}:2:23: error: plugins[1]: ")
    assert second.startswith(f"{tinyhost.file}:3:3: warning: plugin: ")
    assert 'did you mean "plugins"?' in second
    assert last == f"{tinyhost.file}: not valid"
    value = tinyhost.json("config", "validate", code=1)
    assert value["valid"] is False
    found = [(p["severity"], p["key"], p["line"], p["column"]) for p in value["problems"]]
    assert found == [("error", "plugins[1]", 2, 23), ("warning", "plugin", 3, 3)]


def test_validate_is_content_with_warnings_and_with_no_file_at_all(tinyhost: Cli) -> None:
    assert tinyhost.json("config", "validate") == {
        "file": str(tinyhost.file),
        "valid": True,
        "problems": [],
    }
    tinyhost.configure('{"nothing": 1}')
    assert tinyhost.ok("config", "validate").endswith(f"{tinyhost.file}: valid\n")


def test_validate_finds_a_file_that_cannot_be_parsed_not_valid(tinyhost: Cli) -> None:
    tinyhost.configure("{\n  oops\n}")
    done = tinyhost("config", "validate")
    assert done.returncode == 1
    assert done.stdout.startswith(f"{tinyhost.file}:2:3: ")
    [problem] = tinyhost.json("config", "validate", code=1)["problems"]
    assert (problem["severity"], problem["line"], problem["column"]) == ("error", 2, 3)


# --- doctor


def checks(cli: Cli, *, code: int, **extra: Any) -> dict[str, list[tuple[str, str]]]:
    """What doctor found: by the name of the check, level and text."""
    value = cli.json("doctor", code=code, **extra)
    assert value["healthy"] is (code == 0)
    found: dict[str, list[tuple[str, str]]] = {}
    for check in value["checks"]:
        found.setdefault(check["what"], []).append((check["level"], check["text"]))
    return found


def test_a_healthy_setup_passes(tinyhost: Cli) -> None:
    program = tinyhost.plugin("mine", version="3.0", hooks={"session.start": {"result": {}}})
    tinyhost.configure({"plugins": ["mine", "handoff"]})
    found = checks(tinyhost, code=0)
    [(level, text)] = found["plugin mine"]
    assert level == "ok"
    assert text.startswith("3.0, 0 tools, 1 hooks, ")
    assert text.endswith(f" ms, {program} (plugin folder)")
    assert found["plugin handoff"] == [("ok", "built in")]
    assert found["configuration"] == [("ok", str(tinyhost.file))]
    assert found["state folder"] == [("ok", str(tinyhost.state))]
    lines = tinyhost.ok("doctor").splitlines()
    assert lines[0] == "RESULT\tCHECK\tDETAILS"
    assert lines[1].startswith("ok\ttinyhost\t0.")
    assert lines[2].startswith("ok\tpython\t3.")


def test_plugins_that_do_not_load_are_problems(tinyhost: Cli) -> None:
    broken = tinyhost.plugins / "broken"
    broken.write_text("#!/nowhere/python\n")
    broken.chmod(0o755)
    tinyhost.configure({"plugins": ["broken", "nowhere"]})
    found = checks(tinyhost, code=1)
    assert "asks in its first line for /nowhere/python" in found["plugin broken"][0][1]
    assert found["plugin nowhere"][0][0] == "problem"
    assert tinyhost("doctor", "--plugin", "broken").returncode == 1
    tinyhost.plugin("good")
    assert tinyhost("doctor", "--plugin", "good").returncode == 0


def test_a_configuration_that_cannot_be_used_is_a_problem(tinyhost: Cli) -> None:
    tinyhost.configure("{oops")
    found = checks(tinyhost, code=1)
    assert found["configuration"][0][0] == "problem"
    assert found["plugins"] == [("ok", "none are configured")]
    tinyhost.configure({"plugins": [5], "nothing": 1})
    levels = [level for level, _ in checks(tinyhost, code=1)["configuration"]]
    assert levels == ["ok", "problem", "warning"]


def test_a_plugin_folder_that_others_can_write_is_a_problem(tinyhost: Cli) -> None:
    tinyhost.plugins.chmod(0o777)
    [(level, text)] = checks(tinyhost, code=1)["plugin folder"]
    assert level == "problem"
    assert f"{tinyhost.plugins} can be written by everybody" in text


def test_folders_that_are_files_are_problems(tinyhost: Cli, tmp_path: Path) -> None:
    tinyhost.plugins.rmdir()
    tinyhost.plugins.touch()
    (tmp_path / "file").touch()
    env = {"TINYHOST_STATE_DIR": str(tmp_path / "file" / "state")}
    found = checks(tinyhost, code=1, env=env)
    assert found["plugin folder"] == [("problem", f"{tinyhost.plugins} is not a folder")]
    assert found["state folder"][0][0] == "problem"
    assert f"{tmp_path / 'file'} is not a folder" in found["state folder"][0][1]


def test_entries_of_path_that_are_no_use_are_warnings(tinyhost: Cli, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    path = f":bin:{tmp_path}/missing:{shared}:/usr/bin"
    found = checks(tinyhost, code=0, env={"PATH": path})["PATH"]
    assert [level for level, _ in found] == ["warning"] * 4
    texts = [text for _, text in found]
    assert "an empty entry" in texts[0]
    assert "'bin' is not absolute" in texts[1]
    assert f"{tmp_path}/missing is missing" in texts[2]
    assert f"plugins in {shared} are refused" in texts[3]
