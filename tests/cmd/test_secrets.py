"""Secrets never appear: not in lists, info, the journal, logs, errors or command lines.

Secrets are planted in the environment, in options, in variables that the configuration sets,
and in addresses; plugins get them and write them wherever they can, but for the answer of a
tool, which is the person's own business.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

Cli = Any  # of conftest.py

ENVIRONMENT = "from-the-environment-1"
OPTION = "from-the-options-2"
NESTED = "from-nested-options-3"
VARIABLE = "from-the-settings-4"
ADDRESS = "from-an-address-5"
SECRETS = (ENVIRONMENT, OPTION, NESTED, VARIABLE, ADDRESS)

# Reads what it was given, and tells everybody.
LEAKY = """\
#!{python} -IS
import json, os, sys
everything = json.dumps(dict(os.environ))
for line in sys.stdin:
    request = json.loads(line)
    everything += line if request["method"] == "initialize" else ""
    print(everything, file=sys.stderr, flush=True)
    if {broken} or request["method"] == "hook/invoke":
        answer = {{"error": {{"code": 1, "message": everything, "data": everything}}}}
    elif request["method"] == "initialize":
        answer = {{"result": {{"id": "leaky", "tools": [{{"name": "fail"}}, {{"name": "die"}}],
                  "hooks": ["session.start", "permission.ask", "tool.execute.after"]}}}}
    elif request["params"]["name"] == "die":
        with open({cmdlines!r}, "w") as file:
            for pid in (os.getpid(), os.getppid()):
                file.write(open(f"/proc/{{pid}}/cmdline").read())
        os._exit(3)
    else:
        answer = {{"error": {{"code": 1, "message": everything}}}}
    print("not a message: " + everything)
    print(json.dumps({{"jsonrpc": "2.0", "id": request["id"], **answer}}), flush=True)
"""

CONFIG = {
    "plugins": [["leaky", {"apiToken": OPTION, "inner": {"secrets": {"password": NESTED}}}]],
    "settings": {
        "leaky": {"onGuardFailure": "skip"},  # else none of its tools is ever called
        "*": {
            "env": {
                "DB_PASSWORD": VARIABLE,
                "PROXY": f"http://user:{ADDRESS}@proxy.example",
                "COPY_TOKEN": "${SERVICE_TOKEN}",
            },
        },
    },
    "hooks": {
        "session.start": [{"command": "env >&2; exit 1"}],
        "tool.execute.before": [{"command": "env >&2; exit 1", "match": {"tool": "none"}}],
    },
}

LINES = [
    ("plugin", "load", "leaky"),
    ("plugin", "load", "broken", "-v"),
    ("plugin", "list", "--all"),
    ("plugin", "info", "leaky", "--load"),
    ("plugin", "info", "broken", "--load"),
    ("plugin", "path", "leaky"),
    ("plugin", "enable", "leaky", "--pin"),
    ("plugin", "pin", "leaky"),
    ("tool", "list"),
    ("tool", "call", "plugin__leaky__fail"),
    ("tool", "call", "plugin__leaky__die"),
    ("hook", "invoke", "permission.ask", "--input", '{"toolName": "bash", "toolArgs": "{}"}'),
    ("hook", "invoke", "session.start", "--input", "{}", "-v"),
    ("run", "--explain", "--", "true"),
    ("config", "path"),
    ("config", "show"),
    ("config", "validate"),
    ("doctor",),
    ("trust", "--yes"),
    ("trust", "list"),
    ("trust", "status"),
    ("journal", "list"),
    ("journal", "show"),
    ("journal", "tail"),
    ("plugin", "disable", "leaky"),
]


@pytest.fixture
def leaky(tinyhost: Cli, tmp_path: Path) -> Cli:
    for name in ("leaky", "broken"):
        file = tinyhost.plugins / name
        text = LEAKY.format(
            python=sys.executable, broken=name == "broken", cmdlines=str(tmp_path / "cmdlines")
        )
        file.write_text(text)
        file.chmod(0o755)
    tinyhost.configure(CONFIG)
    project = tinyhost.project / ".tinyhost"
    project.mkdir()
    (project / "config.json").write_text(json.dumps({"plugins": CONFIG["plugins"]}))
    tinyhost.env["SERVICE_TOKEN"] = ENVIRONMENT
    return tinyhost


def found_in(text: str) -> list[str]:
    """The secrets in a text."""
    return [secret for secret in SECRETS if secret in text]


def test_no_command_shows_a_secret_and_none_is_written_down(leaky: Cli, tmp_path: Path) -> None:
    seen = ""
    for line in LINES:
        for words in (line, (*line, "--json")) if line[0] != "run" else (line,):
            done = leaky(*words)
            assert not found_in(done.stdout + done.stderr), (words, done.stdout, done.stderr)
            seen += done.stdout + done.stderr
    # The plugins did tell: what they wrote is there, with the secrets taken out.
    assert "[redacted]" in seen
    written = {
        path: path.read_text(errors="replace") for path in leaky.state.rglob("*") if path.is_file()
    }
    names = {path.name for path in written}
    assert {"plugin-leaky.log", "plugin-broken.log", "trust.json"} <= names
    assert any(path.suffix == ".jsonl" for path in written)
    assert "[redacted]" in written[leaky.state / "logs" / "plugin-leaky.log"]
    for path, text in written.items():
        assert not found_in(text), path
    assert not found_in((leaky.config / "tinyhost.lock").read_text())
    assert not found_in((tmp_path / "cmdlines").read_text())


def test_no_bridge_shows_a_secret(leaky: Cli) -> None:
    for name, more in (("SessionStart", {}), ("PreToolUse", {"tool_name": "Bash"})):
        event = {"hook_event_name": name, "session_id": "one", "cwd": str(leaky.project), **more}
        done = leaky("hook", "claude-code", input=json.dumps(event))
        assert done.stdout + done.stderr
        assert not found_in(done.stdout + done.stderr)


def test_an_error_in_the_configuration_does_not_show_what_is_configured(leaky: Cli) -> None:
    leaky.configure({**CONFIG, "plugins": [["leaky", OPTION], {"apiToken": NESTED}]})
    for line in (("config", "validate"), ("config", "show"), ("plugin", "list")):
        done = leaky(*line)
        assert not found_in(done.stdout + done.stderr), line
    leaky.configure(json.dumps(CONFIG).replace(f'"{OPTION}"', f'"{OPTION}" oops'))
    done = leaky("config", "validate")
    assert done.returncode == 1
    assert not found_in(done.stdout + done.stderr)
