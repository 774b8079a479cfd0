"""A shipped plugin as the program that it is: on the wire, behind the host, from the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

import tinyhost_plugins
import tinyhost_sdk
from tinyhost import Host
from tinyhost.config import parse_config
from tinyhost.opening import open_host
from tinyhost.permissions import Origin
from tinyhost_plugins._shared import pace
from tinyhost_sdk import Plugin, ToolResult, testing

Request = tuple[str, dict[str, Any]]
SECONDS = 60


def tool(name: str, args: Any) -> Request:
    """The call of a tool."""
    return "tool/call", {"name": name, "args": args}


def hook(name: str, event: Mapping[str, Any] | None = None) -> Request:
    """The invocation of a hook."""
    return "hook/invoke", {"name": name, "input": event or {}}


def cancelled_call(
    plugin: Plugin, name: str, args: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> ToolResult:
    """Call a tool, and cancel the call at the first progress that it tells of."""
    monkeypatch.setattr(pace, "_REPORT", 0)
    with testing.drive(plugin) as driver:
        # Only a plugin that takes more than one call at a time sees it.
        assert driver.manifest["protocol"]["cancel"] is True
        driver.on_progress = lambda _: driver.cancel()
        return driver.call_tool(name, args)


def send(process: subprocess.Popen[str], method: str, params: Any, id: int | None = None) -> None:
    """Write a request, or a notification when it has no id."""
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    assert process.stdin is not None
    process.stdin.write(json.dumps(message if id is None else {**message, "id": id}) + "\n")
    process.stdin.flush()


class Shipped:
    """One plugin, by the name that the person uses. main: Python that runs it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._package = f"tinyhost_plugins.{name.replace('-', '_')}"
        self.main = f"from {self._package} import main; main()"

    def converse(self, *requests: Request, **handshake: Any) -> list[dict[str, Any]]:
        """Start a process, shake hands, ask one thing after the other, let it go; the replies.

        handshake: options, directory.
        """
        replies = []
        hello: Request = ("initialize", {"version": "1.0", **handshake})
        with self.started() as process:
            for number, (method, params) in enumerate((hello, *requests), 1):
                send(process, method, params, number)
                assert process.stdout is not None
                replies.append(json.loads(process.stdout.readline()))
                assert replies[-1]["id"] == number
            rest, complaints = process.communicate(timeout=SECONDS)
        assert (rest, complaints) == ("", "")
        assert process.returncode == ("error" in replies[0])
        return replies

    def started(self, **more: Any) -> subprocess.Popen[str]:
        """A process with pipes, which has been asked nothing yet."""
        return subprocess.Popen(
            [sys.executable, "-c", self.main],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **more,
        )

    def results(self, *requests: Request, **handshake: Any) -> list[Any]:
        """As `converse`, for replies that are no errors."""
        return [reply["result"] for reply in self.converse(*requests, **handshake)]

    def install(self, folder: Path, name: str = "") -> Path:
        """A program that runs the plugin; its name is the plugin's, unless another is given."""
        folder.mkdir(exist_ok=True)
        script = folder / (name or self.name)
        script.write_text(f"#!{sys.executable}\n{self.main}\n")
        script.chmod(0o755)
        return script

    def install_as_wheel(self, folder: Path) -> Path:
        """The program as an installed wheel has it."""
        return self.install(folder, f"tinyhost-plugin-{self.name}")

    def imported(
        self, options: Any, *steps: str, env: Mapping[str, str] | None = None
    ) -> list[set[str]]:
        """The modules that a process has loaded after its start, after each step, and at the end.

        steps: Python on one line, which has a `driver` of tinyhost_sdk.testing.
        """
        lines = [f"    {step}\n    print(*sys.modules)\n" for step in ("pass", *steps)]
        program = (
            "import sys\n"
            f"from {self._package}.plugin import build\n"
            "from tinyhost_sdk import testing\n"
            f"with testing.drive(build(), {options!r}) as driver:\n"
            f"{''.join(lines)}"
            "print(*sys.modules)\n"
        )
        # Without site, so that what an editable install imports does not count.
        homes = [Path(found.__path__[0]).parent for found in (tinyhost_plugins, tinyhost_sdk)]
        path = [*map(str, homes), *sys.path]
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {path!r}\n{program}"],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            env=env,
        )
        assert done.returncode == 0, done.stderr
        return [set(line.split()) for line in done.stdout.splitlines()]

    def call(
        self, folder: Path, name: str, args: Any, *words: str, **env: str
    ) -> subprocess.CompletedProcess[str]:
        """`tinyhost tool call` in a folder."""
        named = f"plugin__{self.name}__{name}"
        return tinyhost(folder, "tool", "call", named, "--args", json.dumps(args), *words, **env)


def tinyhost(folder: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """The command in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "tinyhost_cli.main", *words],
        cwd=folder,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@asynccontextmanager
async def hosting(home: Path, plugins: list[Any], **keys: Any) -> AsyncIterator[Host]:
    """A host that has loaded the plugins: names, or names with options. keys: more settings."""
    text = json.dumps({"plugins": plugins, **keys})
    config = parse_config(text, str(home / "config" / "config.json"))
    assert not config.problems, config.problems
    with trio.fail_after(SECONDS):
        async with open_host(config, origin=Origin.PERSON) as host:
            await host.load_all(
                [entry if isinstance(entry, str) else entry[0] for entry in plugins]
            )
            yield host
