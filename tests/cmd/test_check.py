"""`tinyhost plugin check`: the report for people and for programs, and the exit code."""

from __future__ import annotations

import json
import re
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

Cli = Any  # of conftest.py
PEERS = Path(__file__).parents[1] / "peers"


@pytest.fixture
def nearly(tinyhost: Cli) -> Any:
    """nearly(fault): install the plugin of peers/nearly.py with that fault; its path."""

    def install(fault: str, name: str = "nearly") -> str:
        program: Path = tinyhost.plugins / name
        program.write_text(
            f"#!{sys.executable} -IS\nimport sys\nsys.path.insert(0, {str(PEERS)!r})\n"
            f"import nearly\nnearly.main({fault!r})\n"
        )
        program.chmod(0o755)
        return str(program)

    return install


def test_a_plugin_that_conforms_has_a_line_for_each_check_and_exit_code_0(
    tinyhost: Cli, nearly: Any
) -> None:
    nearly("")
    shown = tinyhost.ok("plugin", "check", "nearly", "--call", 'wait={"n":\n0}')
    header, *lines = shown.splitlines()
    assert header == "RESULT\tCHECK\tDETAILS"
    assert lines[0].startswith("ok\thandshake\tanswered in ")
    assert re.fullmatch(r"nearly conforms \(native\): \d+ ok; it starts in \d+ ms", lines[-1])


def test_a_fault_is_told_with_rule_lines_and_way_out_and_exit_code_1(
    tinyhost: Cli, nearly: Any
) -> None:
    done = tinyhost("plugin", "check", nearly("result for an unknown method"))
    assert done.returncode == 1
    assert "\nfailed\tunknown-method\ta method that does not exist was answered" in done.stdout
    block = done.stdout.partition("\n\nfailed: A method that does not exist is refused\n")[2]
    assert [line.partition("\t")[0] for line in block.splitlines()[:7]] == [
        *("check", "found", "rule", "to do", "see", "sent", "sent"),
    ]
    assert 'came back\t{"jsonrpc": "2.0", "id": 2, "result": {}}' in block
    assert "nearly does not conform (native): " in block
    assert done.stderr == ""


def test_json_has_everything_in_one_line(tinyhost: Cli, nearly: Any) -> None:
    path = nearly("no version")
    value = tinyhost.json("plugin", "check", path)
    assert (value["plugin"], value["dialect"], value["passed"]) == ("nearly", "native", True)
    assert value["command"] == [path]
    assert value["startMs"] > 0
    assert value["counts"]["warning"] == 1
    assert sum(value["counts"].values()) == len(value["checks"])
    [found] = [check for check in value["checks"] if check["outcome"] == "warning"]
    assert found["id"] == "identity"
    assert set(found) == {
        *("id", "title", "outcome", "text", "rule", "fix", "link", "sent", "received", "ms"),
    }
    assert tinyhost.json("plugin", "check", nearly("banner"), code=1)["passed"] is False


def test_tools_are_called_only_when_they_are_named(tinyhost: Cli, nearly: Any) -> None:
    nearly("tool that fails")
    assert "skipped\tcall\tno tool was named" in tinyhost.ok("plugin", "check", "nearly")
    shown = tinyhost.ok("plugin", "check", "nearly", "--call", "wait={}")
    assert "warning\tcall\ttool wait answered that it failed: no" in shown
    done = tinyhost("plugin", "check", "nearly", "--call", "other={}")
    assert done.returncode == 1
    assert "failed\tcall\tit offers no tool other; there are: wait" in done.stdout


@pytest.mark.parametrize("value", ["wait", "={}", "wait=[1]", "wait={"])
def test_a_call_that_is_none_is_a_usage_error(value: str, tinyhost: Cli, nearly: Any) -> None:
    nearly("")
    done = tinyhost("plugin", "check", "nearly", "--call", value)
    assert done.returncode == 2
    assert "--call" in done.stderr


def test_what_a_plugin_prints_cannot_command_the_terminal(tinyhost: Cli, nearly: Any) -> None:
    path = nearly("prints in a hook")
    text, code = tinyhost.terminal("plugin", "check", path)
    assert code == 1
    assert "\\x1b[2Jasked about" in text
    # Not as it is, whatever else moves the cursor.
    assert "\x1b[2Jasked" not in text
    assert "checking nearly" in text


def test_verbose_tells_of_each_check_on_standard_error(tinyhost: Cli, nearly: Any) -> None:
    nearly("")
    done = tinyhost("plugin", "check", "nearly", "-v")
    lines = done.stderr.splitlines()
    assert re.fullmatch(r"tinyhost: check handshake: ok after \d+ ms", lines[0])
    assert len(lines) == len(done.stdout.splitlines()) - 3


def test_time_that_is_too_short_says_so_and_fails(tinyhost: Cli, nearly: Any) -> None:
    nearly("")
    done = tinyhost("plugin", "check", "nearly", "--timeout", "0.3")
    assert done.returncode == 1
    assert "nearly was not checked to the end (native)" in done.stdout


def _initialize(tinyhost: Cli, *args: str) -> Any:
    """The params that a plugin gets which refuses to start."""
    value = tinyhost.json("plugin", "check", "nearly", *args, code=1)
    [sent] = value["checks"][0]["sent"]
    return json.loads(sent)["params"]


def test_the_project_is_an_empty_folder_unless_one_is_named(tinyhost: Cli, nearly: Any) -> None:
    nearly("refuses to start")
    assert not Path(_initialize(tinyhost)["directory"]).exists()
    assert _initialize(tinyhost, "--directory", ".")["directory"] == str(tinyhost.project)


def test_options_reach_the_plugin(tinyhost: Cli, nearly: Any) -> None:
    nearly("refuses to start")
    params = _initialize(tinyhost, "--options", '{"root": "/srv"}')
    assert params["options"] == {"root": "/srv"}


def test_a_name_that_is_also_a_file_hints_at_the_path(tinyhost: Cli) -> None:
    (tinyhost.project / "mine").write_text("")
    done = tinyhost("plugin", "check", "mine")
    assert done.returncode == 1
    assert "./mine" in done.stderr


def test_a_builtin_has_no_program_to_check(tinyhost: Cli) -> None:
    done = tinyhost("plugin", "check", "notify")
    assert done.returncode == 1
    assert "notify is built in" in done.stderr


def test_the_shipped_guard_conforms(tinyhost: Cli) -> None:
    program = tinyhost.project / "tinyhost-plugin-safety-net"
    program.write_text(
        f"#!{sys.executable}\nfrom tinyhost_plugins.safety_net import main\n\nmain()\n"
    )
    program.chmod(0o755)
    value = tinyhost.json("plugin", "check", "./tinyhost-plugin-safety-net")
    assert value["passed"]
    assert value["counts"]["warning"] == 0


def test_a_signal_ends_the_check_and_what_it_started(tinyhost: Cli, nearly: Any) -> None:
    path = nearly("never answers")
    process = tinyhost.start("plugin", "check", path)
    while not _running(path):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    process.communicate()
    assert not _running(path)


def _running(path: str) -> bool:
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if path.encode() in words[1:] and b"check" not in words:
            return True
    return False
