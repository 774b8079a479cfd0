"""The control socket: who may use it, one host for each configuration, clients of all kinds."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from tinyhost import runtime
from tinyhost.surfaces import accepting, control, mcp
from tinyhost.surfaces.place import HostRunning, claimed
from tinyhost_cli.client import attach

from .conftest import Child, InService, Rpc, alive, connected, own_socket, until

AddPlugin = Callable[[str, str], Path]
NOBODY = 65534


@pytest.fixture
def add_waiter(add_plugin: AddPlugin, home: Path) -> Callable[..., Path]:
    """add_waiter(): a plugin whose tool never answers; what reaches it is in the file given back."""

    def add(name: str = "waiter", **protocol: bool) -> Path:
        log = home / f"{name}.log"
        body = f"""
            log = open({str(log)!r}, "a", buffering=1)
            handshake(protocol={{"cancel": True, "concurrency": 64, **{protocol}}})
            while (request := recv()) is not None:
                print(request["method"], file=log)
                if request["method"] == "hook/invoke":
                    reply(request, {{}})
        """
        add_plugin(name, body)
        log.touch()
        return log

    return add


# --- one host, for one person


async def test_the_socket_and_its_folder_are_for_the_person_alone(in_service: InService) -> None:
    before = os.umask(0)
    try:
        async with in_service() as host:
            path = Path(host.path)
            modes = [stat.S_IMODE(one.stat().st_mode) for one in (path, path.parent)]
            lock = path.with_name(path.name + ".lock")
            assert (modes, stat.S_ISSOCK(path.stat().st_mode)) == ([0o600, 0o700], True)
            assert stat.S_IMODE(lock.stat().st_mode) == 0o600
            assert lock.read_text() == f"{os.getpid()}\n{path}\n"
            assert os.umask(0) == 0
    finally:
        os.umask(before)
    assert not path.exists()


@pytest.mark.parametrize("mode", [0o770, 0o720, 0o702, 0o750, 0o701])
def test_a_folder_that_others_may_use_is_refused(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(PermissionError, match=f"chmod 700 {folder}"), claimed(f"{folder}/s.sock"):
        pass
    assert list(folder.iterdir()) == []


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    folder = Path("/proc/1")  # root's
    if os.geteuid() == 0:
        folder = tmp_path / "run"
        folder.mkdir(mode=0o700)
        os.chown(folder, NOBODY, NOBODY)
    with pytest.raises(PermissionError, match="must be yours alone"), claimed(f"{folder}/s.sock"):
        pass


def test_a_folder_that_cannot_be_made_is_told_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = pytest.raises(OSError, match=f"{tmp_path}/file: .*; TINYHOST_RUNTIME_DIR can name")
    with said, claimed(f"{tmp_path}/file/s.sock"):
        pass


def test_a_link_in_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    (tmp_path / "precious").write_text("precious")
    (folder / "s.sock.lock").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match=r"s\.sock\.lock"), claimed(f"{folder}/s.sock"):
        pass
    assert (tmp_path / "precious").read_text() == "precious"


def test_a_host_whose_folder_was_deleted_leaves_the_next_ones_socket_alone(tmp_path: Path) -> None:
    path = tmp_path / "run" / "s.sock"
    with contextlib.ExitStack() as second:
        with claimed(str(path)):
            shutil.rmtree(path.parent)
            second.enter_context(claimed(str(path)))
        assert path.is_socket()
    assert not path.exists()


@pytest.mark.parametrize("what", ["folder", "socket", "lock"])
async def test_what_is_deleted_under_a_host_is_made_anew(
    what: str, in_service: InService, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control, "_LOOK", 0.01)
    async with in_service() as host, host.connect() as before:
        path = Path(host.path)
        lock = Path(f"{path}.lock")
        old = path.stat().st_ino, lock.stat().st_ino
        if what == "folder":
            shutil.rmtree(path.parent)
        else:
            (path if what == "socket" else lock).unlink()
        await until(lambda: path.is_socket() and lock.exists())
        await until(lambda: runtime.find_socket(str(home), os.environ))
        async with host.connect() as after:
            assert (await after.call("host/status"))["pid"] == os.getpid()
        assert (path.stat().st_ino, lock.stat().st_ino) != old
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        await before.call("host/status")
    assert not path.exists()


async def test_a_host_whose_place_cannot_be_made_anew_says_so_and_tries_again(
    in_service: InService, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(control, "_LOOK", 0.01)
    async with in_service() as host:
        folder = Path(host.path).parent
        shutil.rmtree(folder)
        folder.touch()
        await until(lambda: "cannot be made anew" in caplog.text)
        folder.unlink()
        await until(lambda: "has been made anew" in caplog.text)
        assert caplog.text.count("cannot be made anew") == 1
        async with host.connect() as client:
            await client.call("host/status")


async def test_a_second_host_is_refused_also_where_the_folder_of_the_first_was_deleted(
    in_service: InService, child: Callable[..., Child], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control, "_LOOK", 3600)
    async with in_service() as host:
        shutil.rmtree(Path(host.path).parent)
        second = child()
        assert await second.ended() == 1
        assert f"process {os.getpid()}, {host.path}" in second.log.read_text()


async def test_a_second_host_is_refused_also_where_it_would_listen_elsewhere(
    in_service: InService, child: Callable[..., Child], tmp_path: Path
) -> None:
    async with in_service() as host:
        second = child(TINYHOST_RUNTIME_DIR=str(tmp_path / "elsewhere"))
        assert await second.ended() == 1
        said = second.log.read_text()
        assert f"process {os.getpid()}, {host.path}" in said
        assert "Set XDG_RUNTIME_DIR and TINYHOST_RUNTIME_DIR as they were there" in said
        assert f"kill {os.getpid()}" in said


def test_a_state_folder_that_cannot_be_used_leaves_the_lock_beside_the_socket(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "state").touch()
    path = str(tmp_path / "run" / "s.sock")
    with claimed(path, str(tmp_path / "state")):
        assert "may not be noticed" in caplog.text
        with pytest.raises(HostRunning), claimed(path):
            pass
    with claimed(path):
        pass


async def test_a_second_host_with_the_same_configuration_is_refused(
    in_service: InService, child: Callable[..., Child]
) -> None:
    async with in_service() as host:
        second = child()
        assert await second.ended() == 1
        assert f"process {os.getpid()}, {host.path}" in second.log.read_text()
        with pytest.raises(HostRunning) as raised, claimed(host.path):
            pass
        assert raised.value.pid == os.getpid()
        async with host.connect() as client:
            assert (await client.call("host/status"))["pid"] == os.getpid()


async def test_the_place_is_free_again_when_a_host_has_ended(in_service: InService) -> None:
    for _ in range(2):
        async with in_service() as host, host.connect() as client:
            await client.call("host/status")


async def test_what_a_killed_host_left_behind_is_taken_over(
    in_service: InService,
    child: Callable[..., Child],
    add_waiter: Callable[..., Path],
    configure: Callable[..., None],
) -> None:
    add_waiter()
    configure("waiter")
    killed = child()
    [plugin] = [one for one in (await killed.ready())["plugins"] if one["pid"]]
    killed.process.kill()
    await killed.ended()
    assert Path(killed.path).exists()
    await until(lambda: not alive(plugin["pid"]))  # its guardian sees to that
    async with in_service() as host, host.connect() as client:
        assert host.path == killed.path
        status = await client.call("host/status")
        assert (status["pid"], host.pids().keys()) == (os.getpid(), {"waiter"})


async def test_a_path_too_long_for_a_socket_is_served_all_the_same(
    in_service: InService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TINYHOST_RUNTIME_DIR", str(tmp_path / ("long" * 40)))
    async with in_service() as host, host.connect() as client:
        assert len(host.path) > 107
        assert (await client.call("host/status"))["addresses"] == {"control": host.path}


_AS_ANOTHER = """
import os, socket, sys
folder, name = sys.argv[1:]
os.chdir(folder)
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
with socket.socket(socket.AF_UNIX) as client:
    client.connect(name)
    try:
        client.sendall(b'{"jsonrpc":"2.0","id":1,"method":"host/status"}\\n')
        print(len(client.recv(100)))
    except ConnectionError:
        print(0)
"""


async def test_a_process_of_another_user_is_turned_away(
    in_service: InService, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with in_service() as host:
        path, uid = Path(host.path), NOBODY
        if os.geteuid() == 0:
            # Modes would keep it out before it is looked at.
            path.parent.chmod(0o711)
            path.chmod(0o666)
        else:  # nobody can be made here but ourselves: so the host is another's
            uid = os.geteuid()
            monkeypatch.setattr(control.os, "geteuid", lambda: uid + 1)
        words = [sys.executable, "-c", _AS_ANOTHER, str(path.parent), path.name]
        done = await trio.run_process(words, capture_stdout=True)
        assert done.stdout == b"0\n"
        assert f"a process of user {uid} was turned away" in caplog.text
        monkeypatch.undo()
        async with connected(host.path) as client:
            await client.call("host/status")


def test_a_command_does_not_attach_to_the_host_of_somebody_else(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(own_socket(home))
    path.parent.mkdir(parents=True)
    path.touch()
    assert runtime.find_socket(str(home), os.environ) == str(path)
    if os.geteuid() == 0:
        os.chown(path, NOBODY, NOBODY)
    else:  # nothing can be given away: so it is us who are another
        uid = os.geteuid()
        monkeypatch.setattr(runtime.os, "geteuid", lambda: uid + 1)
    assert runtime.find_socket(str(home), os.environ) is None


async def test_a_command_lets_go_of_a_host_that_turns_out_to_be_somebody_elses(
    in_service: InService, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with in_service() as host:
        client = await trio.to_thread.run_sync(attach, str(home))
        assert client is not None
        with client:
            pass
        # The file is still ours when it is looked at, and then another stands in its place.
        monkeypatch.setattr(runtime, "find_socket", lambda *_: host.path)
        uid = os.geteuid()
        monkeypatch.setattr(runtime.os, "geteuid", lambda: uid + 1)
        assert await trio.to_thread.run_sync(attach, str(home)) is None


async def test_the_kernel_says_who_is_at_the_other_end() -> None:
    ours, theirs = trio.socket.socketpair()
    with ours, theirs:
        assert runtime.peer_of(ours) == (os.getpid(), os.getuid())


async def test_more_clients_than_can_be_served_are_turned_away(
    in_service: InService, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(control, "_CLIENTS", 2)
    async with in_service() as host, host.connect() as first:
        await first.call("host/status")
        async with host.connect() as second:
            await second.call("host/status")
            async with host.connect() as third:
                assert await third.ended()
            assert "more than 2 clients" in caplog.text

        async def served_again() -> bool:
            async with host.connect() as client:
                try:
                    await client.send({"jsonrpc": "2.0", "id": 1, "method": "host/status"})
                    return await client.take()
                except trio.BrokenResourceError:
                    return False

        with trio.fail_after(10):
            while not await served_again():
                await trio.sleep(0.01)


async def test_clients_are_served_again_when_descriptors_are_back(
    in_service: InService, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(accepting, "_PATIENCE", 0.05)
    async with in_service() as host:
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        with runtime.Address(host.path) as address, trio.socket.socket(socket.AF_UNIX) as ours:
            in_use = [int(fd.name) for fd in Path("/proc/self/fd").iterdir()]
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(in_use) + 1, limits[1]))
            spare = []
            try:
                with contextlib.suppress(OSError):
                    while True:
                        spare.append(os.dup(0))
                await ours.connect(address)
                await until(lambda: "no client can be taken" in caplog.text)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, limits)
                for fd in spare:
                    os.close(fd)
            await Rpc(trio.SocketStream(ours)).call("host/status")


# --- calls


async def test_a_call_is_cancelled_in_the_plugin_by_its_client(
    in_service: InService, add_waiter: Callable[..., Path], configure: Callable[..., None]
) -> None:
    log = add_waiter()
    configure("waiter")
    async with in_service() as host, host.connect() as client:
        asked = await client.start("tool/call", tool="plugin__waiter__t")
        await until(lambda: "tool/call" in log.read_text())
        cancel = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": asked}}
        await client.send(cancel)
        assert (await client.answer(asked))["error"]["code"] == -32800
        await until(lambda: "tool/cancel" in log.read_text())
        assert (await client.call("host/status"))["sessions"] == 0


def call_from_outside(directory: Path) -> subprocess.Popen[bytes]:
    """A command that calls the tool that never answers."""
    return subprocess.Popen(
        [sys.executable, "-m", "tinyhost_cli.entry", "tool", "call", "plugin__waiter__t"],
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )


@pytest.mark.parametrize("how", ["closes", "is killed"])
async def test_a_call_is_cancelled_in_the_plugin_when_its_client_goes(
    in_service: InService,
    add_waiter: Callable[..., Path],
    configure: Callable[..., None],
    home: Path,
    how: str,
) -> None:
    log = add_waiter()
    configure("waiter")
    async with in_service() as host:
        if how == "closes":
            async with host.connect() as client:
                await client.start("tool/call", tool="plugin__waiter__t")
                await until(lambda: "tool/call" in log.read_text())
        else:
            process = call_from_outside(home)
            await until(lambda: "tool/call" in log.read_text())
            process.kill()
            await trio.to_thread.run_sync(process.communicate)
        await until(lambda: "tool/cancel" in log.read_text())
        await until(lambda: host.running.status()["sessions"] == 0)


async def test_a_client_that_does_not_read_harms_no_other(
    in_service: InService, add_waiter: Callable[..., Path], configure: Callable[..., None]
) -> None:
    add_waiter()
    configure("waiter")
    async with in_service() as host, host.connect() as slow, host.connect() as other:
        await slow.start("events/follow", since=0)
        with trio.move_on_after(0.5):
            while True:
                await slow.start("plugin/list")
        for _ in range(20):
            await other.call("hook/invoke", hook="session.start", input={"sessionId": "s"})
        with trio.fail_after(10):
            assert len((await other.call("plugin/list"))["plugins"]) > 0


async def test_nonsense_harms_no_other_client_and_not_the_next_line(in_service: InService) -> None:
    async with in_service() as host, host.connect() as bad, host.connect() as good:
        await bad.send(b"\x00\x01\xff\n", b"{}\n", b'"\n', b"[" * 5000 + b"\n")
        for _ in range(4):
            assert "error" in await bad.answer(None)
        assert (await bad.error("host/none"))["code"] == -32601
        assert (await bad.error("tool/call", tool=7))["code"] == -32602
        assert (await bad.call("host/status"))["ready"]
        assert (await good.call("host/status"))["ready"]


async def test_a_fault_in_one_connection_harms_no_other(
    in_service: InService, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_args: object) -> None:
        raise TypeError("on purpose")

    monkeypatch.setattr(mcp, "require", lambda: None)
    monkeypatch.setattr(mcp, "serve_client", broken)
    async with in_service() as host, host.connect() as bad, host.connect() as good:
        await good.call("host/status")
        await bad.call("mcp/open")
        await bad.send({"jsonrpc": "2.0", "id": 1, "method": "ping"})
        assert await bad.ended()
        assert (await good.call("host/status"))["ready"]
    assert "on purpose" in caplog.text


async def test_a_client_that_comes_and_goes_within_a_line_leaves_nothing(
    in_service: InService,
) -> None:
    async with in_service() as host:
        for data in (b"", b'{"jsonrpc":"2.0","id":1', b'{"jsonrpc":"2.0","id":1,"method":"x"}'):
            async with host.connect() as client:
                await client.send(data)
        async with host.connect() as client:
            await client.call("host/status")


async def test_a_signal_to_a_client_does_not_reach_the_host(
    in_service: InService,
    add_waiter: Callable[..., Path],
    configure: Callable[..., None],
    home: Path,
) -> None:
    log = add_waiter()
    configure("waiter")
    async with in_service() as host:
        process = call_from_outside(home)
        await until(lambda: "tool/call" in log.read_text())
        process.send_signal(signal.SIGINT)
        _, said = await trio.to_thread.run_sync(process.communicate)
        assert (process.returncode, said) == (130, b"tinyhost: interrupted\n")
        assert not host.running.stopping


def test_the_socket_of_these_tests_is_the_one_that_commands_look_for(home: Path) -> None:
    path = Path(own_socket(home))
    assert runtime.find_socket(str(home), os.environ) is None
    path.parent.mkdir(parents=True)
    path.touch()
    assert runtime.find_socket(str(home), os.environ) == str(path)
