"""The `tinyhost` command as a real process, with a configuration of its own."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

COMMAND = (sys.executable, "-m", "tinyhost_cli.main")

# Speaks the wire without the SDK, as `script` says: "manifest" answers initialize, "hooks"
# and "tools" hold results or errors by name. The tool "raw" answers with the request's text.
PLUGIN = """\
#!{python} -IS
import json, sys, time
script = json.loads({script!r})
for line in sys.stdin:
    request = json.loads(line)
    params = request.get("params") or {{}}
    method, answer = request["method"], {{"result": {{}}}}
    if method == "initialize":
        time.sleep(script["delay"])
        print(script["stderr"], file=sys.stderr, flush=True)
        if "options" in params:
            script["manifest"]["version"] = json.dumps(params["options"])
        answer = {{"result": script["manifest"]}}
    elif method == "hook/invoke":
        answer = script["hooks"].get(params["name"], answer)
        if params["name"] == "dispose":
            open(script["disposed"], "a").close()
    elif params["name"] == "raw":
        answer = {{"result": {{"content": line}}}}
    else:
        answer = script["tools"][params["name"]]
    for number in range(script["progress"] if method == "tool/call" else 0):
        note = {{"id": request["id"], "message": "step\\x1b %d" % number}}
        print(json.dumps({{"jsonrpc": "2.0", "method": "tool/progress", "params": note}}))
    print(json.dumps({{"jsonrpc": "2.0", "id": request["id"], **answer}}), flush=True)
"""


class Cli:
    """Runs the command. Folders: config (with plugins), state, and project, its own folder."""

    def __init__(self, root: Path) -> None:
        self.config, self.state = root / "config", root / "state"
        self.project, self.plugins = root / "project", root / "config" / "plugins"
        self.file = self.config / "config.json"
        for folder in (self.plugins, self.project):
            folder.mkdir(parents=True)
        kept = {key: os.environ[key] for key in ("PATH", "LANG") if key in os.environ}
        self.env = kept | {
            "HOME": str(root),
            "TINYHOST_CONFIG_DIR": str(self.config),
            "TINYHOST_STATE_DIR": str(self.state),
        }

    def __call__(
        self, *args: str, input: str | bytes = "", env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run to the end. Output is read as UTF-8, bytes that are not as escapes."""
        data = input.encode() if isinstance(input, str) else input
        done = subprocess.run(
            [*COMMAND, *args],
            cwd=self.project,
            env=self.env | (env or {}),
            input=data,
            capture_output=True,
            timeout=60,
        )
        out, err = (text.decode("utf-8", "backslashreplace") for text in (done.stdout, done.stderr))
        assert "Traceback" not in err, err
        return subprocess.CompletedProcess(done.args, done.returncode, out, err)

    def ok(self, *args: str, **extra: Any) -> str:
        """Run what has to succeed, and give back its output."""
        done = self(*args, **extra)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def json(self, *args: str, code: int = 0, **extra: Any) -> Any:
        """Run with --json and give back the value."""
        done = self(*args, "--json", **extra)
        assert done.returncode == code, done.stdout + done.stderr
        [line] = done.stdout.splitlines()
        return json.loads(line)

    def start(self, *args: str) -> subprocess.Popen[str]:
        """Start, with pipes and a process group that signals can be sent to."""
        return subprocess.Popen(
            [*COMMAND, *args],
            cwd=self.project,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            # The tests may run in the background of a shell, where SIGINT is ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
        )

    def terminal(self, *args: str, env: dict[str, str] | None = None) -> tuple[str, int]:
        """Run with output and error at a terminal of 200 columns; all that it shows."""
        host, terminal = pty.openpty()
        settings = {"TERM": "xterm", "COLUMNS": "200", **(env or {})}
        process = subprocess.Popen(
            [*COMMAND, *args],
            cwd=self.project,
            env=self.env | settings,
            stdin=subprocess.DEVNULL,
            stdout=terminal,
            stderr=terminal,
        )
        os.close(terminal)
        shown = b""
        try:
            while data := os.read(host, 65536):
                shown += data
        except OSError:  # how Linux says that the other end is closed
            pass
        os.close(host)
        return shown.decode("utf-8", "backslashreplace"), process.wait(60)

    def configure(self, text: str | dict[str, Any]) -> None:
        """Write the configuration file."""
        self.file.write_text(text if isinstance(text, str) else json.dumps(text))

    def plugin(
        self,
        name: str,
        *,
        version: str = "1.0",
        tools: dict[str, Any] | None = None,
        hooks: dict[str, Any] | None = None,
        delay: float = 0.0,
        stderr: str = "",
        progress: int = 0,
        folder: Path | None = None,
    ) -> Path:
        """Install a plugin; tools and hooks are the answers by name, "result" or "error"."""
        tools, hooks = tools or {}, hooks or {}
        manifest = {
            "id": name,
            "version": version,
            "tools": [{"name": tool, "description": f"The {tool} tool\nin full"} for tool in tools],
            "hooks": list(hooks),
            "protocol": {"progress": True},
        }
        script = {
            "manifest": manifest,
            "tools": tools,
            "hooks": hooks,
            "delay": delay,
            "stderr": stderr,
            "progress": progress,
            "disposed": str(self.project / f"{name}.disposed"),
        }
        file = (folder or self.plugins) / name
        file.write_text(PLUGIN.format(python=sys.executable, script=json.dumps(script)))
        file.chmod(0o755)
        return file

    def disposed(self, name: str) -> bool:
        """Whether the plugin was told that it is no longer needed."""
        return (self.project / f"{name}.disposed").exists()


@pytest.fixture
def tinyhost(tmp_path: Path) -> Cli:
    return Cli(tmp_path)
