"""Sandboxes of real plugins, by each engine. bubblewrap has to be installed to run these."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trio

import tinyhost
from tinyhost import LoadError, OutcomeUncertain, sandbox
from tinyhost.config import parse_config

AddPlugin = Callable[[str, str], Path]

PEERS = Path(__file__).parent.parent / "peers"
ENGINES = ("bubblewrap", "landlock")

# Runs the Python text of each call and answers with the variable "out", or the error.
WORKER = """
def run(params):
    names = {}
    try:
        exec(params["args"]["code"], names)
    except OSError as error:
        return {"content": f"{type(error).__name__}: {error}", "isError": True}
    return {"content": str(names.get("out", "done"))}
handshake(["run"])
serve(on_tool=run)
"""


@pytest.fixture(autouse=True, scope="module")
def _bubblewrap_is_installed() -> None:
    assert shutil.which("bwrap"), (
        "these tests need bubblewrap; install it with: apt-get install -y bubblewrap"
    )


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Room:
    """A plugin called worker, a folder to read, one to write, and one to keep out of."""

    def __init__(self, home: Path, tmp_path: Path) -> None:
        self.home = home
        self.readable, self.writable, self.secret, self.work = (
            tmp_path / name for name in ("readable", "writable", "secret", "work")
        )
        for folder in (self.readable, self.writable, self.secret, self.work):
            folder.mkdir()
            (folder / "file").write_text(folder.name)

    def config(self, engine: str = "auto", **sandbox: Any) -> tinyhost.Config:
        """Settings of a sandbox that can read what the test plugins are made of."""
        read = [str(PEERS), *sandbox.pop("read", [])]
        sandbox = {"engine": engine, "read": read, **sandbox}
        settings = {"worker": {"sandbox": sandbox, "timeouts": {"stop": "500ms"}}}
        return self.parse({"settings": settings})

    def parse(self, value: object) -> tinyhost.Config:
        found = parse_config(json.dumps(value), str(self.home / "config" / "config.json"))
        assert found.problems == ()
        return found

    def open(self, config: tinyhost.Config, **environ: str) -> Any:
        return tinyhost.open_manager(config, directory=self.work, environ={**os.environ, **environ})


@pytest.fixture
def room(home: Path, tmp_path: Path, add_plugin: AddPlugin) -> Room:
    add_plugin("worker", WORKER)
    return Room(home, tmp_path)


async def ask(manager: tinyhost.Manager, code: str) -> str:
    with trio.fail_after(10):
        return (await manager.call_tool("worker", "run", {"code": code})).content


def reading(path: Path) -> str:
    return f"out = open({str(path)!r}).read()"


def writing(path: Path) -> str:
    return f"open({str(path)!r}, 'w').write('new')"


# --- files


async def test_a_sandbox_reads_and_writes_what_it_may_and_nothing_else(
    room: Room, engine: str
) -> None:
    config = room.config(engine, read=[str(room.readable)], write=[str(room.writable)])
    async with room.open(config) as manager:
        plugin = await manager.load("worker")
        assert await ask(manager, reading(room.readable / "file")) == "readable"
        assert await ask(manager, reading(room.writable / "file")) == "writable"
        assert await ask(manager, writing(room.writable / "new")) == "done"
        assert (room.writable / "new").read_text() == "new"
        for refused in (
            reading(room.secret / "file"),
            reading(room.work / "file"),
            writing(room.secret / "file"),
            writing(room.readable / "file"),
            writing(room.readable / "new"),
            writing(room.home / "config" / "plugins" / "worker"),
            f"import os; os.truncate({str(room.readable / 'file')!r}, 0)",
            f"import os; os.listdir({str(room.secret)!r})",
            f"import os; os.unlink({str(room.readable / 'file')!r})",
            "open('/usr/bin/new-program', 'w')",
            "open('/etc/shadow')",
            "open('/new-file', 'w')",
        ):
            answer = await ask(manager, refused)
            assert answer.startswith(
                ("FileNotFoundError", "PermissionError", "OSError: [Errno 30]")
            ), refused
        assert plugin.info.confinement is not None
        assert plugin.info.confinement.engine == engine
        assert str(room.readable) in plugin.info.confinement.read
    assert (room.readable / "file").read_text() == "readable"
    assert (room.secret / "file").read_text() == "secret"


async def test_files_can_be_moved_and_removed_where_it_may_write(room: Room, engine: str) -> None:
    async with room.open(room.config(engine, write=[str(room.writable)])) as manager:
        await manager.load("worker")
        code = (
            f"import os; os.chdir({str(room.writable)!r}); os.mkdir('a'); os.mkdir('b')\n"
            "open('a/x', 'w').write('x'); os.rename('a/x', 'b/x'); os.remove('file')\n"
            "out = sorted(os.listdir('.'))"
        )
        assert await ask(manager, code) == "['a', 'b']"


async def test_relative_paths_count_from_where_the_plugin_works(room: Room, engine: str) -> None:
    (room.work / "sub").mkdir()
    config = room.config(engine, read=["."], write=["sub"])
    async with room.open(config) as manager:
        await manager.load("worker")
        assert await ask(manager, "out = open('file').read()") == "work"
        assert await ask(manager, "open('sub/new', 'w')") == "done"
        assert "Errno" in await ask(manager, "open('new', 'w')")


async def test_a_plugin_reads_its_own_folder_but_does_not_change_it(
    room: Room, engine: str, add_plugin: AddPlugin
) -> None:
    (room.home / "config" / "plugins" / "worker").unlink()
    folder = room.home / "config" / "plugins" / "worker"
    folder.mkdir()
    add_plugin("worker/plugin", WORKER)
    (folder / "data").write_text("its own")
    async with room.open(room.config(engine)) as manager:
        await manager.load("worker")
        assert await ask(manager, reading(folder / "data")) == "its own"
        assert "Errno" in await ask(manager, writing(folder / "data"))
        assert "Errno" in await ask(manager, reading(room.home / "config" / "other"))


async def test_paths_may_refer_to_variables_and_home(room: Room, engine: str) -> None:
    (room.home / "notes").write_text("notes")
    config = room.config(
        engine,
        read=["${READABLE}", "~/notes", "${NOWHERE:-}"],
        write=["${NOWHERE:-" + str(room.writable) + "}"],
    )
    async with room.open(config, READABLE=str(room.readable)) as manager:
        await manager.load("worker")
        assert await ask(manager, reading(room.readable / "file")) == "readable"
        assert await ask(manager, reading(room.home / "notes")) == "notes"
        assert await ask(manager, writing(room.writable / "new")) == "done"


async def test_a_link_leads_to_what_it_may_reach_by_both_names(room: Room, engine: str) -> None:
    link = room.work.parent / "link"
    link.symlink_to(room.writable)
    async with room.open(room.config(engine, write=[str(link)])) as manager:
        await manager.load("worker")
        assert await ask(manager, writing(link / "one")) == "done"
        assert await ask(manager, writing(room.writable / "two")) == "done"
    assert (room.writable / "one").exists()


async def test_a_project_behind_a_link_is_the_working_directory(room: Room, engine: str) -> None:
    link = room.work.parent / "link"
    link.symlink_to(room.work)
    config = room.config(engine, read=["."])
    async with tinyhost.open_manager(config, directory=link, environ=os.environ) as manager:
        await manager.load("worker")
        assert await ask(manager, "out = open('file').read()") == "work"


async def test_bubblewrap_keeps_a_part_of_a_writable_folder_read_only(room: Room) -> None:
    (room.work / ".git").mkdir()
    config = room.config("bubblewrap", read=[".git"], write=["."])
    async with room.open(config) as manager:
        await manager.load("worker")
        assert await ask(manager, "open('new', 'w')") == "done"
        assert "Errno 30" in await ask(manager, "open('.git/config', 'w')")
        assert "Errno 16" in await ask(manager, "import os; os.rename('.git', 'x')")


async def test_bubblewrap_gives_a_temporary_folder_of_its_own(room: Room) -> None:
    mark = f"tinyhost-{os.getpid()}"
    config = room.config("bubblewrap")
    async with room.open(config, TMPDIR=str(room.secret)) as manager:
        await manager.load("worker")
        code = f"import tempfile; open('/tmp/{mark}', 'w'); out = tempfile.mkdtemp()"
        assert (await ask(manager, code)).startswith("/tmp/")
    assert not Path("/tmp", mark).exists()


# --- network


@pytest.fixture
def listener() -> Iterator[int]:
    """The port of a TCP server on the loopback interface that nobody answers on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def connecting(port: int) -> str:
    return (
        f"import socket\nwith socket.create_connection(('127.0.0.1', {port}), 5): out = 'connected'"
    )


async def test_there_is_no_network_unless_it_is_allowed(
    room: Room, engine: str, listener: int
) -> None:
    async with room.open(room.config(engine)) as manager:
        await manager.load("worker")
        answer = await ask(manager, connecting(listener))
        assert answer.startswith(("ConnectionRefusedError", "PermissionError"))
        if engine == "bubblewrap":
            code = "import socket; out = [name for _, name in socket.if_nameindex()]"
            assert await ask(manager, code) == "['lo']"
    async with room.open(room.config(engine, network=True)) as manager:
        await manager.load("worker")
        assert await ask(manager, connecting(listener)) == "connected"


async def test_landlock_says_what_it_has_not_of_bubblewrap(room: Room) -> None:
    async with room.open(room.config("landlock")) as manager:
        plugin = await manager.load("worker")
        assert plugin.info.confinement is not None
        assert any("/tmp" in gap for gap in plugin.info.confinement.gaps)


async def test_landlock_takes_all_sockets_away_but_pairs(room: Room, tmp_path: Path) -> None:
    bus = str(tmp_path / "bus")
    making = "import socket as s; x = s.socket({}, {})"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(bus)
        server.listen()
        async with room.open(room.config("landlock", write=[bus])) as manager:
            await manager.load("worker")
            for family in ("s.AF_INET", "s.AF_INET6", "s.AF_UNIX", "s.AF_PACKET"):
                for kind in ("s.SOCK_STREAM", "s.SOCK_DGRAM"):
                    answer = await ask(manager, making.format(family, kind))
                    assert "Errno 13" in answer
            assert await ask(manager, "import socket; socket.socketpair()") == "done"
            assert await ask(manager, "import asyncio; asyncio.run(asyncio.sleep(0))") == "done"
        async with room.open(room.config("landlock", network=True)) as manager:
            await manager.load("worker")
            assert await ask(manager, making.format("s.AF_INET", "s.SOCK_DGRAM")) == "done"
            assert "Errno 13" in await ask(manager, making.format("s.AF_UNIX", "s.SOCK_STREAM"))


async def test_bubblewrap_shows_no_socket_that_it_was_not_told_of(room: Room) -> None:
    path = str(room.secret / "bus")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        async with room.open(room.config("bubblewrap", network=True)) as manager:
            await manager.load("worker")
            code = f"import socket as s; s.socket(s.AF_UNIX).connect({path!r})"
            assert "Errno 2" in await ask(manager, code)


# --- processes


async def test_the_environment_of_others_cannot_be_read(room: Room, engine: str) -> None:
    async with room.open(room.config(engine)) as manager:
        await manager.load("worker")
        answer = await ask(manager, reading(Path(f"/proc/{os.getpid()}/environ")))
        assert "Errno" in answer
        answer = await ask(manager, f"import os; os.kill({os.getpid()}, 0)")
        assert "Errno" in answer


async def test_the_marks_that_the_host_finds_its_processes_by_are_there(
    room: Room, engine: str
) -> None:
    async with room.open(room.config(engine)) as manager:
        plugin = await manager.load("worker")
        code = "import os; out = os.environ['TINYHOST_PLUGIN_ID']"
        assert await ask(manager, code) == plugin.id
        # The confined program starts with the variables that an unconfined one would have.
        names = await ask(manager, "import os; out = sorted(os.environ)")
        assert "TINYHOST_HOST_ID" in names
        assert ("LC_CTYPE" in names) == ("LC_CTYPE" in os.environ)


async def test_limits_hold_in_a_sandbox_too(room: Room, engine: str) -> None:
    value = json.loads(json.dumps({"openFiles": 50, "processes": 20, "nice": 4}))
    sandbox = {"engine": engine, "read": [str(PEERS)]}
    config = room.parse({"settings": {"worker": {"limits": value, "sandbox": sandbox}}})
    async with room.open(config) as manager:
        await manager.load("worker")
        code = (
            "import resource as r; out = r.getrlimit(r.RLIMIT_NOFILE), r.getrlimit(r.RLIMIT_NPROC)"
        )
        assert await ask(manager, code) == "((50, 50), (20, 20))"
        assert await ask(manager, "import os; out = os.nice(0)") == str(os.nice(0) + 4)


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("import os; os._exit(7)", "exited with status 7"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "was killed by SIGKILL"),
        ("import os; os.abort()", "was killed by SIGABRT"),
    ],
)
async def test_how_a_plugin_ended_is_told(room: Room, engine: str, code: str, status: str) -> None:
    async with room.open(room.config(engine)) as manager:
        await manager.load("worker")
        with pytest.raises(OutcomeUncertain, match=status) as caught:
            await ask(manager, "import sys; print('last words', file=sys.stderr)\n" + code)
        assert "last words" in caught.value.stderr
        assert await ask(manager, "out = 'again'") == "again"


WEDGED = """
import signal, subprocess, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for session in (False, True):
    subprocess.Popen(
        ["sh", "-c", "trap '' TERM; while :; do sleep 60; done"], start_new_session=session
    )
handshake()
while True:
    time.sleep(60)
"""


def marked(plugin: str) -> list[int]:
    """The processes with a plugin's id in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"TINYHOST_PLUGIN_ID={plugin}".encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


async def test_a_wedged_plugin_is_killed_with_all_that_it_started(
    room: Room, engine: str, add_plugin: AddPlugin
) -> None:
    add_plugin("worker", WEDGED)
    async with room.open(room.config(engine)) as manager:
        plugin = await manager.load("worker")
        before = marked(plugin.id)
        assert len(before) >= 3
        with trio.fail_after(4):
            await manager.unload("worker")
        with trio.fail_after(1):  # they have been killed, and may be on their way out
            while any(is_alive(pid) for pid in before) or marked(plugin.id):
                await trio.sleep(0.005)


async def test_a_plugin_gets_its_time_to_end_after_sigterm(
    room: Room, engine: str, add_plugin: AddPlugin
) -> None:
    add_plugin(
        "worker",
        f"""
        import signal
        def end(*_):
            time.sleep(0.2)
            open({str(room.writable / "ended")!r}, "w").close()
            os._exit(0)
        signal.signal(signal.SIGTERM, end)
        handshake()
        while True:
            time.sleep(60)
        """,
    )
    async with room.open(room.config(engine, write=[str(room.writable)])) as manager:
        await manager.load("worker")
    assert (room.writable / "ended").exists()


HOST = """
import sys, trio, tinyhost
async def main():
    config = tinyhost.load_config(sys.argv[1])
    async with tinyhost.open_manager(config, directory=sys.argv[2]) as manager:
        plugin = await manager.load("worker")
        print(plugin.id, flush=True)
        await trio.sleep_forever()
trio.run(main)
"""


def run_host_until_loaded_and_kill_it(config: Path, directory: Path) -> str:
    """A host in a process of its own; the id of the plugin that it had loaded."""
    command = [sys.executable, "-c", textwrap.dedent(HOST), str(config), str(directory)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        plugin = host.stdout.readline().strip()
        assert len(marked(plugin)) >= 3
        host.send_signal(signal.SIGKILL)
    return plugin


async def test_nothing_is_left_when_the_host_is_killed(
    room: Room, engine: str, add_plugin: AddPlugin
) -> None:
    add_plugin("worker", WEDGED)
    file = room.home / "config" / "config.json"
    sandbox = {"engine": engine, "read": [str(PEERS)]}
    file.write_text(json.dumps({"settings": {"worker": {"sandbox": sandbox}}}))
    plugin = run_host_until_loaded_and_kill_it(file, room.work)
    with trio.fail_after(5):
        while marked(plugin):
            await trio.sleep(0.01)


NODE = """#!/usr/bin/env node
const fs = require("fs");
const lines = require("readline").createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  let result = {};
  if (method === "initialize") result = { id: "node", tools: [{ name: "run" }], hooks: [] };
  if (method === "tool/call") {
    const { code } = params.args;
    try { result = { content: fs.readFileSync(code, "utf8") }; }
    catch (error) { result = { content: error.code, isError: true }; }
  }
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
});
lines.on("close", () => process.exit(0));
"""


SHELL = """#!/bin/sh
read -r line
id=$(echo "$line" | sed 's/.*"id": *\\([0-9]*\\).*/\\1/')
echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"id":"sh","tools":[],"hooks":["session.start"]}}'
cat > /dev/null
"""


async def test_a_shell_script_runs_in_a_sandbox(room: Room, engine: str) -> None:
    (room.home / "config" / "plugins" / "worker").write_text(SHELL)
    async with room.open(room.config(engine)) as manager:
        with trio.fail_after(10):
            assert (await manager.load("worker")).info.hooks == ("session.start",)


async def test_a_node_plugin_runs_in_a_sandbox_with_half_a_gibibyte(
    room: Room, engine: str
) -> None:
    """Its address space is far larger than that; its private memory is not."""
    program = room.home / "config" / "plugins" / "worker"
    program.write_text(NODE)
    sandbox = {"engine": engine, "read": [str(room.readable)]}
    limits = {"memory": "512MiB"}
    config = room.parse({"settings": {"worker": {"limits": limits, "sandbox": sandbox}}})
    async with room.open(config) as manager:
        await manager.load("worker")
        assert await ask(manager, str(room.readable / "file")) == "readable"
        assert await ask(manager, str(room.secret / "file")) in ("ENOENT", "EACCES")


# --- what cannot be had


async def test_without_an_engine_the_plugin_is_not_started(room: Room, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    config = room.config("bubblewrap")
    async with room.open(config, PATH=str(empty)) as manager:
        with pytest.raises(LoadError, match=r"bwrap\) is not installed") as caught:
            await manager.load("worker")
    assert caught.value.stage == "spawn"
    assert 'set "sandbox": false' in str(caught.value)


async def test_without_bubblewrap_landlock_is_taken(room: Room, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    async with room.open(room.config("auto"), PATH=str(empty)) as manager:
        plugin = await manager.load("worker")
        assert plugin.info.confinement is not None
        assert plugin.info.confinement.engine == "landlock"


async def test_a_bubblewrap_that_others_could_exchange_is_not_used(
    room: Room, tmp_path: Path
) -> None:
    fake = tmp_path / "bin" / "bwrap"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\n")
    fake.chmod(0o777)
    async with room.open(room.config("bubblewrap"), PATH=str(fake.parent)) as manager:
        with pytest.raises(LoadError, match="can be written by everybody"):
            await manager.load("worker")


async def test_a_bubblewrap_that_does_not_work_here_is_not_used(room: Room, tmp_path: Path) -> None:
    fake = tmp_path / "bin" / "bwrap"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho 'bwrap: no namespaces for you' >&2\nexit 1\n")
    fake.chmod(0o755)
    async with room.open(room.config("bubblewrap"), PATH=str(fake.parent)) as manager:
        with pytest.raises(LoadError, match="no namespaces for you"):
            await manager.load("worker")


@pytest.mark.parametrize(
    ("sandbox", "reason"),
    [
        ({"read": ["/nowhere"]}, r"sandbox.read has /nowhere, which does not exist"),
        ({"write": ["nothing-here"]}, "nothing-here, which does not exist; create it first"),
        ({"write": ["~"]}, "tinyhost's own folder .* name narrower folders"),
        ({"write": ["~/config/plugins"]}, "tinyhost's own folder"),
        ({"write": ["/"]}, "tinyhost's own folder"),
        ({"read": ["/proc"]}, "a sandbox has one of its own"),
    ],
)
async def test_paths_that_make_no_sandbox_are_refused(
    room: Room, sandbox: dict[str, list[str]], reason: str
) -> None:
    async with room.open(room.config("auto", **sandbox)) as manager:
        with pytest.raises(LoadError, match=reason):
            await manager.load("worker")


async def test_a_missing_variable_in_a_path_is_named(room: Room) -> None:
    async with room.open(room.config("auto", read=["${NOT_THERE}"])) as manager:
        with pytest.raises(tinyhost.ConfigError, match="NOT_THERE is not set") as caught:
            await manager.load("worker")
        assert caught.value.key == "sandbox.read"


async def test_landlock_refuses_what_it_cannot_keep_read_only(room: Room) -> None:
    (room.work / ".git").mkdir()
    config = room.config("landlock", read=[".git"], write=["."])
    async with room.open(config) as manager:
        with pytest.raises(LoadError, match=r"Landlock cannot make .*\.git read-only"):
            await manager.load("worker")


def test_a_bubblewrap_that_took_too_long_once_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\nexit 42\n")
    program.chmod(0o755)
    environ = {"PATH": str(tmp_path)}
    with monkeypatch.context() as patch:
        patch.setattr(sandbox, "_PROBE_TIMEOUT", -1)
        found, why_not = sandbox.find_bubblewrap(environ)
    assert not found
    assert "timed out" in why_not
    assert sandbox.find_bubblewrap(environ) == (str(program), "")
