"""Plugins on the far side of a real ssh connection."""

from __future__ import annotations

import json
import os
import pwd
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trio

import tinyhost
from tinyhost import LoadError, OutcomeUncertain, PluginDied, State
from tinyhost.config import parse_config

TESTS = Path(__file__).parent.parent
sys.path.insert(1, str(TESTS / "support"))

from sshd import Box, free_port, running_sshd  # noqa: E402

PEERS = TESTS / "peers"
WORD_COUNT = TESTS.parent / "contrib" / "examples" / "sh" / "word-count"

MCP_PRELUDE = f"""\
import sys
sys.path[:0] = [{str(TESTS / "tinyhost" / "mcp")!r}, {str(PEERS)!r}]
from mcpwords import *
"""

# Written with the SDK: says where and as what it runs, and ends when it is asked to.
SDK_PLUGIN = """
import json, os, sys
from tinyhost_sdk import Plugin, SessionStart, SessionStartOutput, ToolContext, run

plugin = Plugin("far", version="2.1")

@plugin.tool()
def look(names: list[str], *, ctx: ToolContext) -> str:
    "Says where it runs."
    seen = {name: os.environ.get(name) for name in names}
    return json.dumps({"pid": os.getpid(), "argv": sys.argv[1:], "env": seen, "cwd": os.getcwd()})

@plugin.hook("session.start")
def session_start(event: SessionStart) -> SessionStartOutput:
    return SessionStartOutput(additional_context=f"started {event.session_id}")

@plugin.hook("dispose")
def bye() -> None:
    open(os.environ["HOME"] + "/disposed", "w").close()

run(plugin)
"""

# Ends neither by end-of-file nor by SIGTERM or SIGHUP.
DEAF = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
handshake()
serve(lambda params: {"content": str(os.getpid())})
while True:
    time.sleep(60)
"""

DYING = """
handshake(["pid", "die"])
def answer(params):
    if params["name"] == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    return {"content": str(os.getpid())}
import signal
serve(answer)
"""


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    with running_sshd(tmp_path_factory.mktemp("far")) as box:
        yield box


def far_script(box: Box, name: str, text: str) -> list[str]:
    """Put a Python program on the far side; the words that start it there."""
    path = box.home / name
    path.write_text(textwrap.dedent(text))
    return [sys.executable, str(path)]


def far_peer(box: Box, name: str, body: str) -> list[str]:
    """The same, with the words of peers/rawplugin.py."""
    prelude = f"import sys\nsys.path.insert(0, {str(PEERS)!r})\nfrom rawplugin import *\n"
    return far_script(box, name, prelude + textwrap.dedent(body))


def config(home: Path, **settings: Any) -> tinyhost.Config:
    text = json.dumps({"plugins": ["far"], "settings": {"far": settings}})
    found = parse_config(text, str(home / "config" / "config.json"))
    assert found.problems == ()
    return found


async def call(manager: tinyhost.Manager, tool: str, **args: Any) -> str:
    with trio.fail_after(20):
        return (await manager.call_tool("far", tool, args)).content


def runs(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def ends(pid: int) -> None:
    with trio.fail_after(20):
        while runs(pid):
            await trio.sleep(0.02)


# --- what works as it does here


async def test_a_plugin_of_the_sdk_is_started_used_and_stopped(box: Box, home: Path) -> None:
    arguments = ["two words", "it's", 'a "quote"', "$HOME `id` \\ *", "", "line\nbreak", "ä"]
    command = [*far_script(box, "far one.py", SDK_PLUGIN), *arguments]
    env = {"GREETING": 'it\'s $5 "here"', "PLACE": "${WHERE:-far away}"}
    settings = {"launch": box.launch, "remoteCommand": command, "env": env}
    async with tinyhost.open_manager(config(home, **settings)) as manager:
        plugin = await manager.load("far")
        assert plugin.info.version == "2.1"
        assert plugin.info.path.endswith("/ssh")
        found = json.loads(await call(manager, "look", names=[*env, "TINYHOST_STATE_DIR"]))
        assert found["argv"] == arguments
        assert found["env"] == {
            "GREETING": 'it\'s $5 "here"',
            "PLACE": "far away",
            "TINYHOST_STATE_DIR": None,
        }
        assert found["cwd"] == pwd.getpwuid(os.getuid()).pw_dir  # not the project's
        assert found["pid"] != plugin.info.pid
        output = await plugin.invoke_hook("session.start", {"sessionId": "s1"})
        assert output == {"additionalContext": ["started s1"]}
        await manager.unload("far")
        assert not runs(found["pid"])
    assert (box.home / "disposed").exists()


async def test_a_plugin_in_sh_is_found_on_the_path_of_the_far_side(box: Box, home: Path) -> None:
    (box.home / "tinyhost-plugin-far").symlink_to(WORD_COUNT)
    async with tinyhost.open_manager(config(home, launch=box.launch)) as manager:
        plugin = await manager.load("far")
        assert [tool.name for tool in plugin.info.tools] == ["count"]
        assert await call(manager, "count", text="one two") == "lines 1, words 2, characters 7"
        with trio.fail_after(20):
            await manager.unload("far")


async def test_a_variable_reaches_the_far_side_by_sendenv(box: Box, home: Path) -> None:
    """The way for secrets: not in any argument list."""
    settings = {
        "launch": box.words("SendEnv=CARRIED"),
        "remoteCommand": far_script(box, "sent.py", SDK_PLUGIN),
        "passEnv": ["CARRIED"],
    }
    environ = {**os.environ, "CARRIED": "by the connection"}
    async with tinyhost.open_manager(config(home, **settings), environ=environ) as manager:
        await manager.load("far")
        found = json.loads(await call(manager, "look", names=["CARRIED"]))
        assert found["env"] == {"CARRIED": "by the connection"}


async def test_an_mcp_server_is_started_and_used(box: Box, home: Path) -> None:
    body = "legacy()\nserve(call=lambda request: text(repr(sys.argv[1:])))"
    program, script = far_script(box, "server.py", MCP_PRELUDE + body)
    value = {
        "mcpServers": {"far": {"command": program, "args": [script, "two words", "it's"]}},
        "settings": {"far": {"launch": box.launch}},
    }
    found = parse_config(json.dumps(value), str(home / "config" / "config.json"))
    async with tinyhost.open_manager(found) as manager:
        await manager.load("far")
        assert await call(manager, "t") == repr(["two words", "it's"])


async def test_a_key_can_be_for_one_plugin_alone(box: Box, home: Path) -> None:
    key = box.root / "quay-key"
    make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)]
    await trio.run_process(make, stdin=subprocess.DEVNULL)
    with (box.root / "authorized-keys").open("a") as file:
        public = key.with_suffix(".pub").read_text()
        file.write(f'restrict,command="{WORD_COUNT}" {public}')
    launch = box.words(f"IdentityFile={key}")
    async with tinyhost.open_manager(config(home, launch=launch, remoteCommand=[])) as manager:
        plugin = await manager.load("far")
        assert [tool.name for tool in plugin.info.tools] == ["count"]


# --- how it ends


def test_the_remote_plugin_ends_when_its_host_is_killed(box: Box, home: Path) -> None:
    """By end-of-file: nothing of the host reaches over."""
    command = far_script(box, "orphan.py", SDK_PLUGIN)
    text = json.dumps({"settings": {"far": {"launch": box.launch, "remoteCommand": command}}})
    (home / "config" / "config.json").write_text(text)
    script = """
    import sys, trio, tinyhost
    from tinyhost.config import load_config
    async def main():
        async with tinyhost.open_manager(load_config()) as manager:
            await manager.load("far")
            print((await manager.call_tool("far", "look", {"names": []})).content, flush=True)
            await trio.sleep_forever()
    trio.run(main)
    """
    words = [sys.executable, "-c", textwrap.dedent(script)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as host:
        assert host.stdout is not None
        try:
            pid = json.loads(host.stdout.readline())["pid"]
            assert runs(pid)
        finally:
            host.send_signal(signal.SIGKILL)
    trio.run(ends, pid)


async def test_stopping_takes_its_graces_and_leaves_a_deaf_plugin_to_the_far_side(
    box: Box, home: Path
) -> None:
    command = far_peer(box, "deaf.py", DEAF)
    settings = {"launch": box.launch, "remoteCommand": command, "timeouts": {"stop": "300ms"}}
    async with tinyhost.open_manager(config(home, **settings)) as manager:
        plugin = await manager.load("far")
        pid = int(await call(manager, "t"))
        with trio.fail_after(20):
            await manager.unload("far")
        assert plugin.state is State.STOPPED
    try:
        assert runs(pid)
    finally:
        os.kill(pid, signal.SIGKILL)
    await ends(pid)


async def test_a_plugin_that_is_killed_over_there_is_started_again(box: Box, home: Path) -> None:
    settings = {"launch": box.launch, "remoteCommand": far_peer(box, "dying.py", DYING)}
    async with tinyhost.open_manager(config(home, **settings)) as manager:
        await manager.load("far")
        first = await call(manager, "pid")
        with pytest.raises(OutcomeUncertain) as caught:
            await call(manager, "die")
        assert "exited with status 255 (ssh failed or lost its connection, or a signal" in str(
            caught.value
        )
        assert await call(manager, "pid") != first


async def test_a_connection_that_is_lost_ends_the_plugin_on_both_sides(
    box: Box, home: Path
) -> None:
    settings = {"launch": box.launch, "remoteCommand": far_peer(box, "cut.py", DYING)}
    async with tinyhost.open_manager(config(home, **settings)) as manager:
        plugin = await manager.load("far")
        first = int(await call(manager, "pid"))
        assert plugin.info.pid is not None
        os.kill(plugin.info.pid, signal.SIGKILL)
        with trio.fail_after(20):
            while plugin.info.counters.deaths == 0:
                await trio.sleep(0.01)
        await ends(first)
        assert int(await call(manager, "pid")) != first


# --- what goes wrong at the start


async def failure(home: Path, **settings: Any) -> LoadError:
    async with tinyhost.open_manager(config(home, **settings)) as manager:
        with pytest.raises(LoadError) as caught, trio.fail_after(20):
            await manager.load("far")
    assert caught.value.stage == "handshake"
    return caught.value


async def test_a_host_that_cannot_be_reached_is_told_in_the_words_of_ssh(
    box: Box, home: Path
) -> None:
    error = await failure(home, launch=box.words(port=free_port()))
    assert error.status == (
        "exited with status 255 (ssh failed or lost its connection, or a signal ended the plugin)"
    )
    assert "Connection refused" in error.stderr
    assert "Connection refused" in str(error)


async def test_a_host_whose_key_is_not_known_is_told_in_the_words_of_ssh(
    box: Box, home: Path
) -> None:
    error = await failure(home, launch=box.words("UserKnownHostsFile=/dev/null"))
    assert "Host key verification failed" in str(error)


async def test_a_program_that_is_missing_over_there_is_told(box: Box, home: Path) -> None:
    command = ["no such program", "--quietly"]
    error = await failure(home, launch=box.launch, remoteCommand=command)
    assert error.status == (
        "exited with status 127 (there is no such command where the launcher leads to)"
    )
    assert "no such program" in error.stderr
    assert error.command[-1] == "'no such program' --quietly"


async def test_noise_of_the_far_sides_shell_is_shown(box: Box, home: Path) -> None:
    command = ["sh", "-c", "echo Welcome to this box; exec sleep 60"]
    settings = {"launch": box.launch, "remoteCommand": command, "timeouts": {"handshake": "1s"}}
    error = await failure(home, **settings)
    assert "standard output is for the protocol alone, but it wrote 'Welcome" in str(error)


async def test_a_plugin_that_ends_by_itself_says_so(box: Box, home: Path) -> None:
    command = far_peer(box, "short.py", "handshake()\nlog('enough')\nrecv()\nsys.exit(7)")
    settings = {"launch": box.launch, "remoteCommand": command}
    async with tinyhost.open_manager(config(home, **settings)) as manager:
        await manager.load("far")
        with pytest.raises(PluginDied) as caught:
            await call(manager, "t")
        assert "exited with status 7" in str(caught.value)
        assert "enough" in str(caught.value)
