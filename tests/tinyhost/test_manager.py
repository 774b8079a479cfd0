"""Loading, finding and unloading real processes."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import trio

import tinyhost
from tinyhost import (
    InvalidCall,
    LoadError,
    ManagerClosed,
    PluginAlreadyLoaded,
    PluginNotFound,
    PluginSkipped,
    RemoteError,
    State,
    ToolNotFound,
)
from tinyhost.builtins.base import BuiltinPlugin, BuiltinTool
from tinyhost.config import parse_config
from tinyhost.hooks import SessionEnd
from tinyhost.model import CallContext, PluginSpec

AddPlugin = Callable[[str, str], Path]

SERVE = "handshake(tools=['t', 'u'], hooks=['dispose', 'permission.ask'])\nserve()\n"


def configured(text: str, home: Path) -> tinyhost.Config:
    config = parse_config(text, str(home / "config" / "config.json"))
    assert not config.problems
    return config


async def test_a_new_manager_is_empty_and_closes_quietly(home: Path) -> None:
    async with tinyhost.open_manager() as manager:
        assert manager.list() == []
        assert manager.tools() == []
        with pytest.raises(PluginNotFound, match="not found: nobody"):
            await manager.unload("nobody")


async def test_load_shakes_hands_and_lists_the_plugin(add_plugin: AddPlugin) -> None:
    add_plugin(
        "demo", "handshake(tools=['greet'], hooks=['session.start'], version='1.2')\nserve()"
    )
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("demo")
        (info,) = manager.list()
        assert info == plugin.info
        assert info.id.startswith("plg_")
        assert (info.name, info.dialect, info.version) == ("demo", "native", "1.2")
        assert info.state is State.READY
        assert info.pid is not None
        assert list(info.hooks) == ["session.start"]
        (tool,) = manager.tools()
        assert (tool.id, tool.plugin) == ("plugin__demo__greet", "demo")
        assert tool.input_schema == {"type": "object", "properties": {}}
        assert manager.get(info.id) is manager.get("demo") is plugin
    assert plugin.state is State.STOPPED


async def test_the_plugin_is_told_version_directory_and_options(
    add_plugin: AddPlugin, tmp_path: Path
) -> None:
    add_plugin(
        "demo",
        """
        request = handshake()
        serve(lambda params: {"content": json.dumps([request["params"], os.getcwd()])})
        """,
    )
    async with tinyhost.open_manager(directory=tmp_path) as manager:
        await manager.load("demo", {"depth": 3})
        result = await manager.call_tool("demo", "t")
    expected = {"version": "1.0", "directory": str(tmp_path), "options": {"depth": 3}}
    assert tinyhost.loads(result.content.encode()) == [expected, str(tmp_path)]


async def test_a_tool_call_carries_args_session_and_directory(add_plugin: AddPlugin) -> None:
    add_plugin("demo", "handshake()\nserve(lambda params: {'content': json.dumps(params)})")
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("demo")
        result = await manager.call_tool(
            plugin.id, "plugin__demo__t", {"n": 2**70}, session_id="ses_1", directory="/srv"
        )
    assert not result.is_error
    assert tinyhost.loads(result.content.encode()) == {
        "name": "t",
        "args": {"n": 2**70},
        "context": {"sessionId": "ses_1", "directory": "/srv"},
    }


async def test_json_text_arrives_exactly_as_it_was_written(add_plugin: AddPlugin) -> None:
    add_plugin(
        "demo",
        """
        handshake()
        line = b""
        while not line.endswith(b"\\n"):
            line += os.read(0, 65536)
        reply({"id": 2}, {"content": line.decode()})
        """,
    )
    async with tinyhost.open_manager() as manager:
        await manager.load("demo")
        text = '{"a": 1.10, "b": 1E400,\n "c": 123456789012345678901234567890, "d": "\\ud800"}'
        result = await manager.call_tool("demo", "t", tinyhost.RawJson(text))
    assert f'"args":{text.replace(chr(10), " ")},' in result.content


async def test_a_tools_own_failure_is_a_result_and_an_rpc_error_is_raised(
    add_plugin: AddPlugin,
) -> None:
    add_plugin(
        "demo",
        """
        handshake()
        reply(recv(), {"content": "no such file", "isError": True})
        fail(recv(), -32602, "unknown tool: t")
        serve()
        """,
    )
    async with tinyhost.open_manager() as manager:
        await manager.load("demo")
        result = await manager.call_tool("demo", "t")
        assert result == tinyhost.ToolResult("no such file", is_error=True)
        with pytest.raises(RemoteError, match="unknown tool") as caught:
            await manager.call_tool("demo", "t")
        assert caught.value.code == -32602
        assert (await manager.call_tool("demo", "t")).content == "ok"
        with pytest.raises(ToolNotFound, match="plugin__demo__t"):
            await manager.call_tool("demo", "missing")


async def test_output_that_is_not_protocol_is_tolerated_and_counted(add_plugin: AddPlugin) -> None:
    add_plugin(
        "demo",
        """
        send("starting up\\n\\n{\\"id\\": 7, \\"result\\": {}}\\n")
        handshake()
        request = recv()
        send("DEBUG \\xff\\n[]\\n{\\"id\\": true, \\"result\\": {}}\\n")
        send('{"id": %d, "method": "t"}\\n' % request["id"])
        reply(request, {"content": "fine"})
        serve()
        """,
    )
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("demo")
        assert (await manager.call_tool("demo", "t")).content == "fine"
        assert plugin.info.counters.junk_lines == 6


async def test_a_second_load_of_a_name_is_refused_also_while_the_first_is_under_way(
    add_plugin: AddPlugin,
) -> None:
    add_plugin("demo", SERVE)
    errors = []

    async with tinyhost.open_manager() as manager:

        async def load() -> None:
            try:
                await manager.load("demo")
            except PluginAlreadyLoaded as error:
                errors.append(error)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(load)
            nursery.start_soon(load)
        assert len(errors) == 1
        (info,) = manager.list()
        assert errors[0].id == info.id


@pytest.mark.parametrize("name", ["", "../evil", "/bin/true", "a b", "UPPER", "x" * 65])
async def test_a_bad_name_is_refused_before_anything_runs(home: Path, name: str) -> None:
    async with tinyhost.open_manager() as manager:
        with pytest.raises(tinyhost.TinyhostError):
            await manager.load(name)
        assert manager.list() == []


async def test_an_unknown_name_says_where_it_was_looked_for(home: Path) -> None:
    async with tinyhost.open_manager() as manager:
        with pytest.raises(PluginNotFound, match="tinyhost-plugin-nonesuch on PATH") as caught:
            await manager.load("nonesuch")
    assert caught.value.searched


async def test_a_builtin_without_a_program_is_skipped(home: Path) -> None:
    async with tinyhost.open_manager() as manager:
        with pytest.raises(PluginSkipped, match="built in"):
            await manager.load("notify")
        assert manager.list() == []


FAILED_STARTS = [
    ("sys.exit(3)", "handshake", "exited with status 3"),
    ("os.kill(os.getpid(), 9)", "handshake", "was killed by SIGKILL"),
    ("recv(); fail({'id': 1}, -32000, 'no licence')", "handshake", "no licence"),
    ("recv(); reply({'id': 1}, [])", "handshake", "an array, not an object"),
    ("recv(); reply({'id': 1}, None)", "handshake", "null, not an object"),
    ("recv(); reply({'id': 1}, {'hooks': 'all'})", "handshake", "hooks is a string"),
    ("handshake(tools=['a b'])\nserve()", "handshake", "letters, digits"),
    ("handshake(tools=['a', 'a'])\nserve()", "handshake", "two tools named 'a'"),
    ("handshake(tools=['x' * 60])\nserve()", "handshake", "1 to 64 letters"),
    ("handshake(protocol={'concurrency': True})\nserve()", "handshake", "concurrency"),
    ('send(\'{"id": 1, "result": {}, "error": {}}\\n\')\nrecv()', "handshake", "both result"),
]


@pytest.mark.parametrize(("body", "stage", "text"), FAILED_STARTS)
async def test_a_failed_load_leaves_nothing_and_says_why(
    add_plugin: AddPlugin, body: str, stage: str, text: str
) -> None:
    path = add_plugin("demo", "log('last words')\n" + body)
    async with tinyhost.open_manager() as manager:
        with pytest.raises(LoadError, match=re.escape(text)) as caught:
            await manager.load("demo")
        error = caught.value
        assert error.stage == stage
        assert error.command == (str(path),)
        assert error.stderr == "last words\n"
        assert manager.list() == []
        assert manager.tools() == []
        add_plugin("demo", SERVE)
        await manager.load("demo")


async def test_a_plugin_that_ends_right_after_its_handshake_is_no_ghost(
    add_plugin: AddPlugin,
) -> None:
    add_plugin("demo", "handshake(hooks=['permission.ask'])")
    async with tinyhost.open_manager() as manager:
        with contextlib.suppress(LoadError), trio.fail_after(5):
            plugin = await manager.load("demo")
            while plugin.state is State.READY:
                await trio.sleep(0.005)
        assert all(info.pid is None for info in manager.list())


async def test_no_answer_to_initialize_fails_the_load_and_kills_the_process(
    add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("demo", "print('Welcome!', flush=True)\ntime.sleep(60)")
    config = configured('{"settings": {"demo": {"timeouts": {"handshake": "300ms"}}}}', home)
    async with tinyhost.open_manager(config) as manager:
        with pytest.raises(LoadError, match=r"within 0\.3 s.*it wrote 'Welcome!'"):
            await manager.load("demo")


SPAWN_ERRORS = [
    ("#!/no/such/interpreter\n", "asks in its first line for /no/such/interpreter"),
    ("#!/bin/sh\r\necho\r\n", "Windows line endings"),
    ("echo hello\n", "neither a program nor a script"),
    ("", "is empty"),
    ("\x7fELF\x02\x01\x01" + "\0" * 200, "another kind of processor"),
    ("MZ\x90", "a Windows program"),
]


@pytest.mark.parametrize(("text", "reason"), SPAWN_ERRORS)
async def test_a_program_that_cannot_run_says_why(home: Path, text: str, reason: str) -> None:
    path = home / "config" / "plugins" / "demo"
    path.write_bytes(text.encode("latin-1"))
    path.chmod(0o755)
    async with tinyhost.open_manager() as manager:
        with pytest.raises(LoadError, match=reason) as caught:
            await manager.load("demo")
        assert caught.value.stage == "spawn"


async def test_a_program_being_written_says_so(home: Path) -> None:
    path = home / "config" / "plugins" / "demo"
    path.write_bytes(Path("/bin/true").read_bytes())
    path.chmod(0o755)
    async with tinyhost.open_manager() as manager:
        with path.open("ab"), pytest.raises(LoadError, match="being written"):
            await manager.load("demo")


async def test_load_all_keeps_the_order_and_reports_each_failure(
    add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("slow", "time.sleep(0.2)\n" + SERVE)
    add_plugin("broken", "sys.exit(1)")
    add_plugin("quick", SERVE)
    config = configured('{"plugins": ["slow", "broken", "nonesuch", "quick"]}', home)
    finished = []
    async with tinyhost.open_manager(config) as manager:
        loaded = await manager.load_all(on_done=lambda result: finished.append(result.spec.name))
        assert [result.spec.name for result in loaded] == ["slow", "broken", "nonesuch", "quick"]
        assert [type(result.error).__name__ for result in loaded] == [
            "NoneType",
            "LoadError",
            "PluginNotFound",
            "NoneType",
        ]
        assert [info.name for info in manager.list()] == ["slow", "quick"]
        assert [tool.plugin for tool in manager.tools()] == ["slow", "slow", "quick", "quick"]
        assert sorted(finished) == ["broken", "nonesuch", "quick", "slow"]
        assert [plugin.name for plugin in manager.with_hook("permission.ask")] == ["slow", "quick"]
        assert manager.with_hook("shell.env") == []


async def test_two_plugins_cannot_offer_the_same_tool_id(add_plugin: AddPlugin) -> None:
    add_plugin("a.b", "handshake(tools=['t'])\nserve()")
    add_plugin("a_b", "handshake(tools=['t'])\nserve()")
    async with tinyhost.open_manager() as manager:
        await manager.load("a.b")
        with pytest.raises(LoadError, match=r"already offered by plugin a\.b") as caught:
            await manager.load("a_b")
        assert caught.value.stage == "register"
        assert [info.name for info in manager.list()] == ["a.b"]


async def test_unload_disposes_closes_input_and_forgets(
    add_plugin: AddPlugin, tmp_path: Path
) -> None:
    story = tmp_path / "story"
    add_plugin(
        "demo",
        f"""
        handshake(hooks=["dispose"])
        story = open({str(story)!r}, "a", buffering=1)
        while (request := recv()) is not None:
            story.write(request["params"]["name"] + str("input" in request["params"]) + "\\n")
            reply(request, {{}})
        story.write("end\\n")
        """,
    )
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("demo")
        await manager.unload(plugin.id)
        assert story.read_text() == "disposeFalse\nend\n"
        assert manager.list() == []
        assert manager.tools() == []
        with pytest.raises(PluginNotFound):
            manager.get("demo")
        await plugin.stop()
        again = await manager.load("demo")
        assert again.id > plugin.id


async def test_shutdown_stops_all_side_by_side_and_loads_no_more(
    add_plugin: AddPlugin, home: Path
) -> None:
    for name in ("a", "b", "c"):
        add_plugin(name, "handshake()\nserve()\ntime.sleep(60)")
    config = configured('{"settings": {"*": {"timeouts": {"stop": "200ms"}}}}', home)
    async with tinyhost.open_manager(config) as manager:
        await manager.load_all(["a", "b", "c"])
        # One after the other the graces alone would take 0.6 s; SIGTERM ends them.
        with trio.fail_after(5):
            await manager.shutdown()
        assert manager.list() == []
        with pytest.raises(ManagerClosed):
            await manager.load("a")


async def test_a_load_under_way_at_shutdown_ends_and_leaves_nothing(
    add_plugin: AddPlugin, tmp_path: Path
) -> None:
    mark = tmp_path / "started"
    add_plugin("demo", f"open({str(mark)!r}, 'w').close()\ntime.sleep(60)")
    errors: list[Exception] = []
    async with tinyhost.open_manager() as manager:

        async def load() -> None:
            try:
                await manager.load("demo")
            except tinyhost.TinyhostError as error:
                errors.append(error)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(load)
            with trio.fail_after(5):
                while not mark.exists():
                    await trio.sleep(0.005)
                await manager.shutdown()
    assert [type(error) for error in errors] == [ManagerClosed]


@pytest.mark.parametrize("how", ["setsid", "daemon"])
async def test_children_that_leave_the_group_end_with_the_plugin(
    add_plugin: AddPlugin, tmp_path: Path, how: str
) -> None:
    pids = tmp_path / "pids"
    add_plugin(
        "demo",
        f"""
        import subprocess
        handshake()
        if {how!r} == "daemon" and os.fork() == 0:
            os.setsid()
            if os.fork():
                os._exit(0)
            open({str(pids)!r}, "w").write(str(os.getpid()))
            time.sleep(60)
            os._exit(0)
        if {how!r} == "setsid":
            child = subprocess.Popen(["sleep", "60"], start_new_session=True)
            open({str(pids)!r}, "w").write(str(child.pid))
        serve()
        """,
    )
    async with tinyhost.open_manager() as manager:
        await manager.load("demo")
        assert (await manager.call_tool("demo", "t")).content == "ok"
        with trio.fail_after(5):
            while not pids.exists() or not pids.read_text():
                await trio.sleep(0.005)
        pid = int(pids.read_text())
        assert _alive(pid)
        await manager.unload("demo")
        with trio.fail_after(5):
            while _alive(pid):
                await trio.sleep(0.005)


HOST = """
import os, sys, trio, tinyhost

async def main():
    async with tinyhost.open_manager() as manager:
        await manager.load_all(["wedged", "fine"])
        print(*(info.pid for info in manager.list()), flush=True)
        await trio.sleep_forever()

trio.run(main)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGABRT])
def test_when_the_host_is_killed_its_plugins_die(
    add_plugin: AddPlugin, number: signal.Signals
) -> None:
    add_plugin(
        "wedged",
        """
        import signal, subprocess
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen(["sleep", "60"], start_new_session=True)
        handshake(version=str(child.pid))
        while True:
            time.sleep(1)
        """,
    )
    add_plugin("fine", SERVE)
    host = subprocess.Popen([sys.executable, "-c", HOST], stdout=subprocess.PIPE, text=True)
    assert host.stdout is not None
    with host, host.stdout:
        pids = [int(pid) for pid in host.stdout.readline().split()]
        assert len(pids) == 2
        assert all(_alive(pid) for pid in pids)
        host.send_signal(number)
        host.wait()
    deadline = time.monotonic() + 10
    while any(_alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.005)
    assert not any(_alive(pid) for pid in pids)


async def test_a_plugin_that_ignores_everything_is_killed_with_its_children(
    add_plugin: AddPlugin, home: Path, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    add_plugin(
        "demo",
        f"""
        import signal, subprocess
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen(["sleep", "60"])
        open({str(pids)!r}, "w").write(str(child.pid))
        handshake(hooks=["dispose"])
        while True:
            time.sleep(1)
        """,
    )
    settings = '{"settings": {"demo": {"timeouts": {"stop": "100ms", "hook": "100ms"}}}}'
    async with tinyhost.open_manager(configured(settings, home)) as manager:
        await manager.load("demo")
        with trio.fail_after(5):
            await manager.unload("demo")
    with trio.fail_after(5):
        while _alive(int(pids.read_text())):
            await trio.sleep(0.01)


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


async def test_leaving_by_an_error_ends_all_plugins_and_keeps_the_error_plain(
    add_plugin: AddPlugin,
) -> None:
    add_plugin("demo", SERVE)
    with pytest.raises(ZeroDivisionError):
        async with tinyhost.open_manager() as manager:
            plugin = await manager.load("demo")
            _ = 1 / 0
    assert plugin.state is State.STOPPED


async def test_leaving_by_cancellation_disposes_properly(
    add_plugin: AddPlugin, tmp_path: Path
) -> None:
    mark = tmp_path / "disposed"
    add_plugin(
        "demo",
        f"""
        handshake(hooks=["dispose"])
        serve(on_hook=lambda params: open({str(mark)!r}, "w").write(params["name"]) and {{}})
        """,
    )
    with trio.move_on_after(60) as scope:
        async with tinyhost.open_manager() as manager:
            await manager.load("demo")
            scope.cancel()
            await trio.sleep_forever()
    assert scope.cancelled_caught
    assert mark.read_text() == "dispose"


async def test_a_load_cancelled_in_the_handshake_leaves_nothing(add_plugin: AddPlugin) -> None:
    add_plugin("demo", "time.sleep(60)")
    async with tinyhost.open_manager() as manager:
        with trio.move_on_after(0.2) as scope:
            await manager.load("demo")
        assert scope.cancelled_caught
        add_plugin("demo", SERVE)
        await manager.load("demo")


async def test_children_get_three_descriptors_and_a_small_environment(
    add_plugin: AddPlugin, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_very_secret")
    monkeypatch.setenv("SOME_SETTING", "x")
    add_plugin(
        "demo",
        """
        handshake()
        answer = {"fds": sorted(os.listdir("/proc/self/fd")), "env": dict(os.environ)}
        serve(lambda params: {"content": json.dumps(answer)})
        """,
    )
    config = configured('{"settings": {"demo": {"env": {"MODE": "a-${SOME_SETTING}"}}}}', home)
    async with tinyhost.open_manager(config) as manager:
        await manager.load("demo")
        seen = tinyhost.loads((await manager.call_tool("demo", "t")).content.encode())
    assert seen["fds"] == ["0", "1", "2", "3"]  # 3 is the listing itself
    assert "GITHUB_TOKEN" not in seen["env"]
    assert "SOME_SETTING" not in seen["env"]
    assert seen["env"]["MODE"] == "a-x"
    assert seen["env"]["HOME"] == os.environ["HOME"]


async def test_standard_error_goes_to_a_log_without_secrets(
    add_plugin: AddPlugin, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKEN", "hunter2hunter2")
    add_plugin("demo", "handshake()\nlog('token is ' + os.environ['API_TOKEN'])\nserve()")
    config = configured('{"settings": {"demo": {"passEnv": ["API_TOKEN"]}}}', home)
    async with tinyhost.open_manager(config) as manager:
        await manager.load("demo")
    log = home / "state" / "logs" / "plugin-demo.log"
    assert log.read_text() == "token is [redacted]\n"
    assert log.stat().st_mode & 0o777 == 0o600


async def test_a_stopped_process_is_killed(add_plugin: AddPlugin, home: Path) -> None:
    add_plugin("demo", SERVE)
    settings = '{"settings": {"demo": {"timeouts": {"stop": "100ms"}}}}'
    async with tinyhost.open_manager(configured(settings, home)) as manager:
        plugin = await manager.load("demo")
        assert plugin.info.pid is not None
        os.kill(plugin.info.pid, signal.SIGSTOP)
        with trio.fail_after(5):
            await manager.unload("demo")


def test_ids_sort_by_creation() -> None:
    made = [tinyhost.ids.new_id("plg") for _ in range(5000)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)
    assert all(len(id) == len("plg_") + 26 for id in made)


async def test_a_spec_of_ones_own_can_be_loaded(add_plugin: AddPlugin) -> None:
    add_plugin("demo", SERVE)
    async with tinyhost.open_manager() as manager:
        await manager.load_spec(PluginSpec("demo", {"a": 1}))
        assert manager.registry()[0].name == "aap-bridge"
    assert sys.exc_info() == (None, None, None)


async def test_an_unload_under_way_is_waited_for_when_the_manager_ends(
    add_plugin: AddPlugin, tmp_path: Path
) -> None:
    add_plugin(
        "demo",
        f"""
        import signal
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        handshake(tools=[])
        serve()
        open({str(tmp_path / "stopping")!r}, "w").close()
        time.sleep(0.3)
        open({str(tmp_path / "saved")!r}, "w").close()
        """,
    )
    async with trio.open_nursery() as nursery:
        async with tinyhost.open_manager() as manager:
            await manager.load("demo")
            nursery.start_soon(manager.unload, "demo")
            while not (tmp_path / "stopping").exists():
                await trio.sleep(0.005)
        assert (tmp_path / "saved").exists()


class Clock(BuiltinPlugin):
    """An in-process plugin with one tool and one hook."""

    def __init__(self, name: str = "clock") -> None:
        super().__init__()
        self.name = name

    def tools(self) -> list[BuiltinTool]:
        return [BuiltinTool(name="t", description="", parameters={}, execute=self.tell)]

    async def tell(self, args: Mapping[str, Any], context: CallContext) -> str:
        return "noon"

    async def session_end(self, event: SessionEnd) -> None:
        pass


async def test_an_in_process_plugin_takes_its_name_and_its_rank(add_plugin: AddPlugin) -> None:
    add_plugin("demo", "handshake(hooks=['session.end'])\nserve()")
    add_plugin("clock", SERVE)
    async with tinyhost.open_manager() as manager:
        await manager.load("demo")
        first, last = Clock("first"), Clock("last")
        manager.register(last, rank=1)
        manager.register(first, rank=-1)
        manager.register(Clock())
        order = [plugin.name for plugin in manager.with_hook("session.end")]
        assert order == ["first", "demo", "clock", "last"]
        assert manager.owner("plugin__first__t") is first
        with pytest.raises(PluginSkipped):
            await manager.load("clock")
        with pytest.raises(ToolNotFound, match="plugin__nobody__t"):
            manager.owner("plugin__nobody__t")


async def test_an_in_process_plugin_that_is_refused_leaves_its_name_free(home: Path) -> None:
    async with tinyhost.open_manager() as manager:
        with pytest.raises(InvalidCall, match="not allowed"):
            manager.register(Clock("Not A Name"))
        manager.register(Clock("a.b"))
        for _ in range(2):  # its tool's id is the other's
            with pytest.raises(LoadError, match=r"already offered by plugin a\.b"):
                manager.register(Clock("a_b"))
        assert [info.name for info in manager.list()] == ["a.b"]


async def test_a_list_with_a_name_twice_or_none_reports_it_in_its_place(
    add_plugin: AddPlugin,
) -> None:
    add_plugin("demo", SERVE)
    finished: list[str] = []
    async with tinyhost.open_manager() as manager:
        specs = [PluginSpec("demo"), PluginSpec(""), PluginSpec("demo")]
        results = await manager.load_all(specs, on_done=lambda done: finished.append(str(done)))
        assert len(finished) == 3
        first, empty, second = results
        assert first.plugin is manager.get("demo")
        assert isinstance(empty.error, LoadError)
        assert "must not be empty" in str(empty.error)
        assert isinstance(second.error, PluginAlreadyLoaded)
        with pytest.raises(PluginNotFound, match=r"Loaded: demo\."):
            manager.get("nobody")


async def test_loads_that_wait_for_their_turn_at_shutdown_never_start(
    add_plugin: AddPlugin, home: Path, tmp_path: Path
) -> None:
    started = tmp_path / "started"
    for number in range(12):
        body = f'with open({str(started)!r}, "a") as file: file.write("x")\nrecv()\nrecv()'
        add_plugin(f"p{number}", body)
    config = configured('{"settings": {"*": {"timeouts": {"handshake": "5m"}}}}', home)
    async with tinyhost.open_manager(config) as manager:
        results: list[Any] = []

        async def load_all() -> None:
            results.extend(await manager.load_all([f"p{number}" for number in range(12)]))

        # Far from the handshake's deadline.
        with trio.fail_after(60):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(load_all)
                while not started.exists() or len(started.read_text()) < 8:
                    await trio.sleep(0.005)
                await manager.shutdown()
        assert [type(result.error) for result in results] == [ManagerClosed] * 12
    assert started.read_text() == "x" * 8
