"""Runs the real agents in a folder of their own, against a scripted model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from model_formats import ToolCall
from model_server import Model, serving

ROOT = Path(__file__).parent.parent.parent
PEERS = ROOT / "tests" / "peers"
PATIENCE = 240  # seconds; a run takes a few on an idle machine

# A plugin that has a say in all hooks that a bridge forwards.
ECHO = """\
import json

def on_hook(params):
    name, given = params["name"], params.get("input") or {}
    if name == "session.start":
        return {"output": {"additionalContext": ["the-context-of-the-session"]}}
    if name == "shell.env":
        return {"output": {"env": {"ADDED": "added", "REMOVED": None}}}
    if name == "tool.execute.before":
        args = json.loads(given["toolArgs"])
        args["command"] = args["command"].replace("draft", "final")
        context = ["the-context-before-the-tool"]
        return {"output": {"toolArgs": json.dumps(args), "additionalContext": context}}
    if name == "tool.execute.after":
        return {
            "output": {
                "output": given["output"].upper(),
                "additionalContext": ["the-context-after-the-tool"],
            }
        }
    return {}

handshake(hooks=HOOKS)
serve(on_hook=on_hook)
"""
_CODEX = """
model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false

[analytics]
enabled = false

[features]
plugins = false

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
"""

HOOKS = ("session.start", "shell.env", "tool.execute.before", "tool.execute.after")


class Run(NamedTuple):
    """How an agent's run ended. said: what it printed on standard output."""

    said: str
    errors: str
    status: int
    model: Model


class Bench:
    """Folders: project; config and state of tinyhost; home of the agents; bin, on their PATH."""

    def __init__(self, programs: Path, root: Path) -> None:
        self.programs = programs
        self.project, self.home, self.bin = root / "project", root / "home", root / "bin"
        self.config, self.state = root / "config", root / "state"
        for folder in (self.project, self.home, self.bin, self.config / "plugins"):
            folder.mkdir(parents=True)
        self.escapes: list[str] = []
        self.program("tinyhost", "tinyhost_cli.entry")
        self.program("tinyhost-plugin-safety-net", "tinyhost_plugins.safety_net")

    def program(self, name: str, module: str) -> None:
        """Put a program of this tree on the agents' PATH."""
        text = f"#!{sys.executable}\nfrom {module} import main\nmain()\n"
        _executable(self.bin / name, text)

    def plugin(self, name: str, body: str) -> None:
        """Add a plugin; the body has the words of peers/rawplugin.py and HOOKS."""
        head = f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(PEERS)!r})\n"
        text = f"{head}from rawplugin import *\nHOOKS = {HOOKS!r}\n{body}"
        _executable(self.config / "plugins" / name, text)

    def configure(self, config: Mapping[str, Any] | str) -> None:
        """Write tinyhost's configuration."""
        text = config if isinstance(config, str) else json.dumps(config)
        (self.config / "config.json").write_text(text)

    def repository(self) -> Path:
        """Make the project a git repository with one file that git does not have."""
        subprocess.run(["git", "init", "-q", str(self.project)], check=True, env=self.env())
        precious = self.project / "precious"
        precious.write_text("not in git\n")
        return precious

    def journal(self) -> list[dict[str, Any]]:
        """The records of tinyhost's journal, of the one session that there was."""
        (file,) = (self.state / "journal").glob("*.jsonl")
        return [json.loads(line) for line in file.read_text().splitlines()[1:]]

    def env(self) -> dict[str, str]:
        """The agents' whole environment, without the model."""
        folders = {
            f"XDG_{kind}_HOME": str(self.home / kind.lower())
            for kind in ("CONFIG", "DATA", "CACHE", "STATE")
        }
        return folders | {
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "HOME": str(self.home),
            "TMPDIR": str(self.home),
            "LANG": "C.UTF-8",
            "TINYHOST_CONFIG_DIR": str(self.config),
            "TINYHOST_STATE_DIR": str(self.state),
        }

    @contextmanager
    def serving(self) -> Iterator[Callable[..., Any]]:
        """Keep a host running in the project. Gives tinyhost(*words): a command's JSON."""
        tinyhost = str(self.bin / "tinyhost")
        env, where = self.env(), self.project
        host = subprocess.Popen(
            [tinyhost, "serve"], cwd=where, env=env, stderr=subprocess.PIPE, text=True
        )

        def ask(*words: str) -> Any:
            command = [tinyhost, *words, "--json"]
            done = subprocess.run(command, cwd=where, env=env, stdout=subprocess.PIPE, check=True)
            return json.loads(done.stdout)

        assert host.stderr is not None
        with host.stderr:
            while "control: " not in (line := host.stderr.readline()):
                assert line, "it did not start"
            try:
                yield ask
            finally:
                host.terminate()
                host.wait(timeout=30)

    # --- the agents

    def claude(self, *script: ToolCall, allow: Sequence[str] = ("Bash",)) -> Run:
        """Run Claude Code with the settings of contrib/claude-code."""
        settings = json.loads((ROOT / "contrib" / "claude-code" / "settings.json").read_text())
        file = self.home / "settings.json"
        file.write_text(json.dumps({**settings, "permissions": {"allow": list(allow)}}))
        with serving(script) as model:
            env = {
                "ANTHROPIC_BASE_URL": model.url,
                "ANTHROPIC_API_KEY": "not-a-key",
                "CLAUDE_CONFIG_DIR": str(self.home / "claude"),
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1",
                "DISABLE_ERROR_REPORTING": "1",
                "DISABLE_TELEMETRY": "1",
            }
            return self._run(["claude", "-p", "do it", "--settings", str(file)], env, model)

    def opencode(self, *script: ToolCall) -> Run:
        """Run opencode with the plugin of contrib/opencode."""
        folder = self.home / "config" / "opencode"
        (folder / "plugins").mkdir(parents=True)
        plugin = ROOT / "contrib" / "opencode" / "tinyhost.js"
        (folder / "plugins" / "tinyhost.js").write_bytes(plugin.read_bytes())
        with serving(script) as model:
            options = {"baseURL": f"{model.url}/v1", "apiKey": "not-a-key"}
            settings = {
                "model": "anthropic/claude-sonnet-4-5",
                "small_model": "anthropic/claude-sonnet-4-5",
                "enabled_providers": ["anthropic"],
                "provider": {"anthropic": {"options": options}},
                "autoupdate": False,
                "share": "disabled",
            }
            (folder / "opencode.json").write_text(json.dumps(settings))
            env = {
                "REMOVED": "still there",
                "OPENCODE_DISABLE_AUTOUPDATE": "1",
                "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
                "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
                "OPENCODE_DISABLE_MODELS_FETCH": "1",
                # It fetches types for its plugin folder; this makes it do without.
                "npm_config_offline": "true",
                "npm_config_registry": model.url,
            }
            return self._run(["opencode", "run", "do it"], env, model)

    def codex(self, *script: ToolCall) -> Run:
        """Run Codex with the hooks of contrib/codex."""
        folder = self.home / "codex"
        folder.mkdir()
        hooks = ROOT / "contrib" / "codex" / "hooks.json"
        (folder / "hooks.json").write_bytes(hooks.read_bytes())
        with serving(script) as model:
            (folder / "config.toml").write_text(_CODEX.format(url=model.url))
            # The sandbox is for other tests; hooks that nobody has reviewed do not run otherwise.
            options = ["--dangerously-bypass-approvals-and-sandbox"]
            options += ["--dangerously-bypass-hook-trust", "--skip-git-repo-check"]
            env = {"CODEX_HOME": str(folder), "SCRIPTED_KEY": "not-a-key"}
            return self._run(["codex", "exec", *options, "do it"], env, model)

    def gemini(self, *script: ToolCall) -> Run:
        """Run Gemini CLI with the settings of contrib/gemini."""
        folder = self.home / ".gemini"
        folder.mkdir()
        settings = json.loads((ROOT / "contrib" / "gemini" / "settings.json").read_text())
        settings |= {
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
            "privacy": {"usageStatisticsEnabled": False},
            "security": {
                "auth": {"selectedType": "gemini-api-key"},
                "folderTrust": {"enabled": False},
            },
            "telemetry": {"enabled": False},
        }
        (folder / "settings.json").write_text(json.dumps(settings))
        with serving(script) as model:
            env = {"GEMINI_API_KEY": "not-a-key", "GOOGLE_GEMINI_BASE_URL": model.url}
            command = ["gemini", "--yolo", "-m", "gemini-2.5-flash", "-p", "do it"]
            return self._run(command, env, model)

    def _run(self, command: Sequence[str], more: Mapping[str, str], model: Model) -> Run:
        proxy = {"HTTP_PROXY": model.url, "HTTPS_PROXY": model.url, "NO_PROXY": "127.0.0.1"}
        process = subprocess.Popen(
            [str(self.programs / command[0]), *command[1:]],
            cwd=self.project,
            env={**self.env(), **proxy, **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            said, errors = process.communicate(timeout=PATIENCE)
        finally:
            _end_group(process)
        self.escapes += model.escapes
        return Run(said, errors, process.returncode, model)


def _end_group(process: subprocess.Popen[str]) -> None:
    """End what the agent left, and itself where it takes too long."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.communicate()


def _executable(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)
