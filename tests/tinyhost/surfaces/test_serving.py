"""A host in service: loading, draining, signals, and what is left when it has ended."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from tinyhost.config import load_config
from tinyhost.errors import ConfigError
from tinyhost.surfaces.serving import Service, serve
from tinyhost_cli.client import attach

from .conftest import Child, InService, alive, connected, until

AddPlugin = Callable[[str, str], Path]


def gate(file: Path) -> str:
    """The body of a plugin whose tool answers once a file is there."""
    return f"""
        handshake(hooks=["session.end"])
        def wait(params):
            open({str(file) + ".begun"!r}, "w").close()
            while not os.path.exists({str(file)!r}):
                time.sleep(0.01)
            return {{"content": "done"}}
        serve(on_tool=wait)
    """


@pytest.fixture
def gated(add_plugin: AddPlugin, configure: Callable[..., None], home: Path) -> Path:
    """The file that the tool of plugin `gated` waits for; FILE.begun is there when it was called."""
    file = home / "go"
    add_plugin("gated", gate(file))
    configure("gated")
    return file


def begun(file: Path) -> Callable[[], bool]:
    return Path(f"{file}.begun").exists


# --- loading


async def test_calls_wait_until_the_plugins_are_loaded_and_the_status_does_not(
    in_service: InService, add_plugin: AddPlugin, configure: Callable[..., None], home: Path
) -> None:
    go = home / "go"
    wait = f"while not os.path.exists({str(go)!r}): time.sleep(0.01)\n"
    add_plugin("late", wait + "handshake()\nserve()\n")
    configure("late")
    async with in_service(with_loaded=False) as host, host.connect() as client:
        asked = await client.start("tool/call", tool="plugin__late__t")
        assert not (await client.call("host/status"))["ready"]
        assert (await client.call("plugin/list"))["failed"] == []
        assert asked not in client.answers
        go.touch()
        assert (await client.answer(asked))["result"]["content"] == "ok"
        assert (await client.call("host/status"))["ready"]


async def test_a_plugin_that_fails_is_told_of_and_the_others_serve(
    in_service: InService, add_plugin: AddPlugin, configure: Callable[..., None]
) -> None:
    add_plugin("good", "handshake()\nserve()\n")
    add_plugin("bad", "sys.exit(3)\n")
    configure("bad", "good", "missing")
    async with in_service() as host, host.connect() as client:
        status = await client.call("host/status")
        failed = {one["name"]: one["error"]["message"] for one in status["failed"]}
        assert failed.keys() == {"bad", "missing"}
        assert "exited with status 3" in failed["bad"]
        assert (await client.call("tool/call", tool="plugin__good__t"))["content"] == "ok"


async def test_a_bad_configuration_is_an_error_and_starts_nothing(home: Path) -> None:
    (home / "config" / "config.json").write_text("{")
    with pytest.raises(ConfigError):
        await serve(Service(read_config=load_config, directory=str(home), environ=dict(os.environ)))
    assert not (home / "state" / "run").exists()


async def test_a_surface_that_cannot_start_ends_the_host_and_its_plugins(
    add_plugin: AddPlugin, configure: Callable[..., None], home: Path
) -> None:
    add_plugin("good", "handshake()\nserve()\n")
    configure("good")

    async def taken(*, task_status: trio.TaskStatus[None]) -> None:
        del task_status
        raise OSError("the address is in use")

    service = Service(
        read_config=load_config,
        directory=str(home),
        environ=dict(os.environ),
        surfaces=(lambda _running: taken,),
    )
    with pytest.raises(ExceptionGroup) as raised:
        await serve(service)
    assert raised.group_contains(OSError, match="in use")
    assert [one.suffix for one in (home / "state" / "run").iterdir()] == [".lock"]


async def test_sigterm_while_plugins_load_ends_them(
    child: Callable[..., Child], add_plugin: AddPlugin, configure: Callable[..., None], home: Path
) -> None:
    pid = home / "pid"
    add_plugin("stuck", f"open({str(pid)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)\n")
    add_plugin("good", "handshake()\nserve()\n")
    configure("stuck", "good")
    host = child()
    await until(lambda: pid.exists() and pid.read_text())
    async with connected(host.path) as client:
        await until(lambda: "plugin good loaded" in host.log.read_text())
        status = await client.call("host/status")
        assert not status["ready"]
    pids = [int(pid.read_text()), *(one["pid"] for one in status["plugins"] if one["pid"])]
    assert len(pids) == 2
    host.process.send_signal(signal.SIGTERM)
    assert await host.ended() == 0
    assert not any(alive(one) for one in pids)
    assert not Path(host.path).exists()


# --- draining


async def test_a_call_in_progress_ends_within_the_grace_and_nothing_new_is_taken(
    child: Callable[..., Child], gated: Path, home: Path
) -> None:
    host = child("--grace", "30s")
    [plugin] = [one for one in (await host.ready())["plugins"] if one["pid"]]
    async with connected(host.path) as client:
        asked = await client.start("tool/call", tool="plugin__gated__t")
        await until(begun(gated))
        host.process.send_signal(signal.SIGTERM)
        with trio.fail_after(20):
            while (await client.answer(await client.start("host/status"))).get("error") is None:
                await trio.sleep(0.01)
        refused = await client.error("plugin/list")
        assert (refused["code"], refused["message"]) == (-32001, "the host is stopping")
        assert await trio.to_thread.run_sync(attach, str(home)) is None  # commands go on alone
        assert asked not in client.answers
        gated.touch()
        assert (await client.answer(asked))["result"]["content"] == "done"
        assert await client.ended()
    assert await host.ended() == 0
    assert not alive(plugin["pid"])
    assert not Path(host.path).exists()


async def test_a_call_longer_than_the_grace_is_cut_and_the_plugin_ended(
    child: Callable[..., Child], gated: Path
) -> None:
    host = child("--grace", "100ms")
    [plugin] = [one for one in (await host.ready())["plugins"] if one["pid"]]
    async with connected(host.path) as client:
        asked = await client.start("tool/call", tool="plugin__gated__t")
        await until(begun(gated))
        host.process.send_signal(signal.SIGTERM)
        assert await client.ended()
        assert asked not in client.answers
    assert await host.ended() == 0
    assert not alive(plugin["pid"])


async def test_an_idle_client_and_one_that_follows_events_do_not_hold_up_the_end(
    in_service: InService,
) -> None:
    with trio.fail_after(20):
        async with in_service(grace=600) as host, host.connect() as idle, host.connect() as other:
            await idle.call("host/status")
            await other.call("events/follow")
            assert await other.call("host/stop") == {}
            assert await idle.ended()
            assert await other.ended()


async def test_a_client_that_does_not_take_its_answer_holds_up_the_end_for_the_grace_only(
    in_service: InService, add_plugin: AddPlugin, configure: Callable[..., None]
) -> None:
    add_plugin("big", "handshake()\nserve(on_tool=lambda p: {'content': 'x' * 4_000_000})\n")
    configure("big")
    with trio.fail_after(20):
        async with in_service(grace=0.2) as host, host.connect() as client:
            await client.start("tool/call", tool="plugin__big__t")
            await until(lambda: host.running.status()["sessions"] == 0 and host.running.events.last)
            host.running.stop()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_signals_while_plugins_are_being_stopped_do_not_cut_that_short(
    child: Callable[..., Child],
    add_plugin: AddPlugin,
    configure: Callable[..., None],
    home: Path,
    number: signal.Signals,
) -> None:
    begun, go, done = home / "begun", home / "go", home / "done"
    body = f"""
        handshake(hooks=["dispose"])
        def end(params):
            open({str(begun)!r}, "w").close()
            while not os.path.exists({str(go)!r}):
                time.sleep(0.01)
            open({str(done)!r}, "w").close()
            return {{}}
        serve(on_hook=end)
    """
    add_plugin("tidy", body)
    configure("tidy")
    host = child()
    await host.ready()
    host.process.send_signal(signal.SIGTERM)
    await until(begun.exists)
    for one in (number, signal.SIGHUP):
        host.process.send_signal(one)
    await trio.sleep(0.1)
    assert host.process.poll() is None
    go.touch()
    assert await host.ended() == 0
    assert done.exists()
    assert not Path(host.path).exists()


# --- reloading by signal


async def test_sighup_reloads_and_a_bad_configuration_changes_nothing(
    child: Callable[..., Child],
    add_plugin: AddPlugin,
    configure: Callable[..., None],
    home: Path,
) -> None:
    for name in ("one", "two"):
        add_plugin(name, "handshake()\nserve()\n")
    configure("one")
    host = child()
    before = pids(await host.ready())
    (home / "config" / "config.json").write_text('{"plugins": [}')
    host.process.send_signal(signal.SIGHUP)
    await until(lambda: "not reloaded: " in host.log.read_text())
    assert pids(await host.ready()) == before
    configure("two", "one")
    host.process.send_signal(signal.SIGHUP)
    await until(lambda: "reloaded: loaded two" in host.log.read_text())
    after = pids(await host.ready())
    assert list(after) == ["two", "one"]
    assert after["one"] == before["one"]


def pids(status: dict[str, Any]) -> dict[str, int]:
    return {one["name"]: one["pid"] for one in status["plugins"] if one["pid"]}


async def test_sigterm_is_obeyed_while_a_reload_waits_for_a_plugin(
    child: Callable[..., Child], add_plugin: AddPlugin, configure: Callable[..., None], home: Path
) -> None:
    pid = home / "pid"
    add_plugin("stuck", f"open({str(pid)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)\n")
    configure(settings={"stuck": {"timeouts": {"handshake": "10m"}}})
    host = child()
    await host.ready()
    configure("stuck", settings={"stuck": {"timeouts": {"handshake": "10m"}}})
    for _ in range(3):  # those that come meanwhile are one more reload at most
        host.process.send_signal(signal.SIGHUP)
    await until(lambda: pid.exists() and pid.read_text())
    host.process.send_signal(signal.SIGTERM)
    assert await host.ended() == 0
    assert not alive(int(pid.read_text()))


async def test_sigterm_is_obeyed_while_a_reload_waits_for_the_configuration(
    child: Callable[..., Child], configure: Callable[..., None], home: Path
) -> None:
    configure()
    host = child()
    await host.ready()
    file = home / "config" / "config.json"
    file.unlink()
    os.mkfifo(file)
    host.process.send_signal(signal.SIGHUP)
    opened: list[int] = []

    def is_being_read() -> bool:
        try:
            opened.append(os.open(file, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            return False
        return True

    await until(is_being_read)
    try:
        host.process.send_signal(signal.SIGTERM)
        assert await host.ended() == 0
    finally:
        os.close(opened[0])


async def test_the_log_tells_what_clients_have_the_host_do_and_how_it_ends(
    child: Callable[..., Child],
    add_plugin: AddPlugin,
    configure: Callable[..., None],
    home: Path,
) -> None:
    add_plugin("one", "handshake()\nserve()\n")
    add_plugin("two", "handshake()\nserve()\n")
    configure("one")
    host = child("--grace", "2s")
    await host.ready()
    async with connected(host.path) as client:
        configure("one", "missing")
        await client.call("host/reload")
        (home / "config" / "config.json").write_text("{")
        await client.error("host/reload")
        await client.call("plugin/load", names=["two"])
        await client.call("plugin/unload", plugin="two")
    host.process.send_signal(signal.SIGTERM)
    assert await host.ended() == 0
    said = [json.loads(line) for line in host.log.read_text().splitlines()]
    words = [(line["level"], re.sub(r"\d+ ms", "MS", line["message"])) for line in said]
    begun = words.index(("info", f"control: {host.path}"))
    assert [(level, text.partition(": ")[0]) for level, text in words[begun + 1 :]] == [
        ("error", "plugin not found"),
        ("info", "reloaded"),
        ("error", "not reloaded"),
        ("info", "plugin two loaded after MS"),
        ("info", "plugin two unloaded"),
        ("info", "told to stop by SIGTERM"),
        ("info", "stopping; calls in progress have 2 s to end"),
        ("info", "stopped"),
    ]


async def test_why_a_host_could_not_start_is_a_line_of_json_as_well(
    child: Callable[..., Child], home: Path
) -> None:
    (home / "config" / "config.json").write_text("{")
    host = child()
    assert await host.ended() == 3
    [line] = host.log.read_text().splitlines()
    assert json.loads(line)["level"] == "error"
    assert "config.json:1:2" in json.loads(line)["message"]


async def test_the_log_is_lines_of_json_where_there_is_no_terminal(
    child: Callable[..., Child], add_plugin: AddPlugin, configure: Callable[..., None]
) -> None:
    add_plugin("good", "handshake()\nserve()\n")
    configure("good", "missing")
    host = child()
    await host.ready()
    await until(lambda: "control: " in host.log.read_text())
    lines = [json.loads(line) for line in host.log.read_text().splitlines()]
    assert all(line.keys() == {"t", "level", "logger", "message"} for line in lines)
    levels = [line["level"] for line in lines if "missing" in line["message"]]
    assert levels == ["error"]
