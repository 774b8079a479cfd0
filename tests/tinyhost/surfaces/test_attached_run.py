"""Ctrl+C at a terminal, at each step of a command that is run by way of a host."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trio

from .conftest import Child, alive, connected, until

AddPlugin = Callable[[str, str], Path]
ENTRY = "import sys; sys.argv[0] = 'tinyhost'; from tinyhost_cli.entry import main; main()"


class Terminal:
    """A command with a terminal of its own."""

    def __init__(self, directory: Path, *words: str) -> None:
        self.keys, terminal = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", ENTRY, *words],
            cwd=directory,
            env=os.environ | {"CI": ""},
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
            preexec_fn=_own_terminal,  # noqa: PLW1509
        )
        os.close(terminal)
        self.shown = b""

    def interrupt(self) -> None:
        """Press Ctrl+C."""
        os.write(self.keys, b"\x03")

    async def ended(self) -> int:
        """Its exit code, once it has ended and all that it wrote was read."""
        await until(lambda: self.process.poll() is not None)
        try:
            while data := os.read(self.keys, 65536):
                self.shown += data
        except OSError:
            pass
        return self.process.wait()

    def close(self) -> None:
        """Leave nothing behind."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.keys)


def _own_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def terminal(home: Path) -> Iterator[Callable[..., Terminal]]:
    started: list[Terminal] = []

    def start(*words: str) -> Terminal:
        started.append(Terminal(home, *words))
        return started[-1]

    yield start
    for one in started:
        one.close()


def witness(file: Path, hook: str, *, slow: bool) -> str:
    """The body of a plugin that writes what a hook is called with, and may never answer."""
    return f"""
        handshake(hooks=[{hook!r}])
        def hook(params):
            with open({str(file) + ".new"!r}, "w") as stream:
                json.dump(params["input"], stream)
            os.rename({str(file) + ".new"!r}, {str(file)!r})
            if {slow}:
                time.sleep(600)
            return {{}}
        serve(on_hook=hook)
    """


async def idle(host: Child) -> None:
    """Return once the host has no session any more."""
    async with connected(host.path) as client:
        with trio.fail_after(30):
            while (await client.call("host/status"))["sessions"]:
                await trio.sleep(0.01)


async def test_it_is_the_commands_while_that_runs_and_plugins_are_told(
    child: Callable[..., Child],
    terminal: Callable[..., Terminal],
    add_plugin: AddPlugin,
    configure: Callable[..., None],
    home: Path,
) -> None:
    told = home / "told"
    add_plugin("witness", witness(told, "tool.execute.after", slow=False))
    configure("witness")
    host = child()
    await host.ready()
    # Not a shell that starts a program behind it: an interrupt right before that may be lost.
    sleeper = "import time; open('begun', 'w').close(); time.sleep(600)"
    trapper = "trap 'exit 7' INT; touch begun; while :; do sleep 0.02; done"
    for words, code, said in (
        ([sys.executable, "-c", sleeper], 130, "signal 2"),
        (["sh", "-c", trapper], 7, "status 7"),
    ):
        run = terminal("run", "--", *words)
        await until((home / "begun").exists)
        run.interrupt()
        assert await run.ended() == code
        after = json.loads(told.read_text())
        assert after["isError"]
        assert said in after["output"] or "SIGINT" in after["output"]
        (home / "begun").unlink()
    await idle(host)


async def test_while_plugins_are_asked_it_ends_the_call_and_nothing_is_run(
    child: Callable[..., Child],
    terminal: Callable[..., Terminal],
    add_plugin: AddPlugin,
    configure: Callable[..., None],
    home: Path,
) -> None:
    asked = home / "asked"
    add_plugin("witness", witness(asked, "permission.ask", slow=True))
    configure("witness", settings={"*": {"timeouts": {"hook": "10m"}}})
    host = child()
    await host.ready()
    run = terminal("run", "--", "touch", "ran")
    await until(asked.exists)
    run.interrupt()
    assert await run.ended() == 130
    assert b"interrupted" in run.shown
    await idle(host)
    assert not (home / "ran").exists()


async def test_while_plugins_see_the_outcome_it_ends_the_wait(
    child: Callable[..., Child],
    terminal: Callable[..., Terminal],
    add_plugin: AddPlugin,
    configure: Callable[..., None],
    home: Path,
) -> None:
    told = home / "told"
    add_plugin("witness", witness(told, "tool.execute.after", slow=True))
    configure("witness", settings={"*": {"timeouts": {"hook": "10m"}}})
    host = child()
    await host.ready()
    run = terminal("run", "--", "touch", "ran")
    await until(told.exists)
    await trio.sleep(0.05)
    run.interrupt()
    assert await run.ended() == 130
    assert (home / "ran").exists()
    await idle(host)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_host_that_is_frozen_does_not_keep_the_command_line_for_ever(
    child: Callable[..., Child],
    terminal: Callable[..., Terminal],
    home: Path,
    number: signal.Signals,
) -> None:
    host = child()
    await host.ready()
    text = f"kill -STOP {host.process.pid}; echo $$ > begun"
    run = terminal("run", "--", "sh", "-c", text)
    begun = home / "begun"
    await until(lambda: begun.exists() and begun.read_text().strip())
    try:
        await until(lambda: not alive(int(begun.read_text())))
        await trio.sleep(0.05)
        if number == signal.SIGINT:
            run.interrupt()
        else:
            run.process.send_signal(number)
        assert await run.ended() in (130, -number)
    finally:
        host.process.send_signal(signal.SIGCONT)
    await idle(host)
