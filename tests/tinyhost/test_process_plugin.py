"""Life and death of real plugin processes."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import trio
import trio.testing

import tinyhost
from tinyhost import (
    CallTimeout,
    FrameTooLarge,
    InvalidCall,
    OutcomeUncertain,
    PluginDied,
    ProtocolError,
    State,
)
from tinyhost import connection as connection_module
from tinyhost.config import parse_config
from tinyhost.connection import Connection
from tinyhost.process_plugin import ProcessPlugin

AddPlugin = Callable[[str, str], Path]


def settings(home: Path, **timeouts: str) -> tinyhost.Config:
    text = tinyhost.dumps({"settings": {"*": {"timeouts": timeouts}}})
    return parse_config(text, str(home / "config" / "config.json"))


async def until(condition: Callable[[], bool]) -> None:
    with trio.fail_after(5):
        while not condition():
            await trio.sleep(0.005)


async def test_a_hook_gets_its_input_and_gives_its_output(add_plugin: AddPlugin) -> None:
    add_plugin(
        "demo",
        "handshake(hooks=['a', 'b', 'c'])\n"
        "serve(on_hook=lambda p: {'output': p} if p['name'] == 'a' else {})",
    )
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("demo")
        assert await plugin.invoke_hook("a", {"x": 1}) == {"name": "a", "input": {"x": 1}}
        assert await plugin.invoke_hook("a") == {"name": "a"}
        assert await plugin.invoke_hook("b", {}) is None
        with pytest.raises(InvalidCall, match="not JSON"):
            await plugin.invoke_hook("a", {"x": float("nan")})


@pytest.mark.parametrize(
    "result",
    ["'text'", "{'content': 3}", "{'content': 'x', 'isError': 'no'}", "[1]"],
)
async def test_an_answer_of_the_wrong_form_is_an_error(add_plugin: AddPlugin, result: str) -> None:
    add_plugin("demo", f"handshake()\nserve(on_tool=lambda p: {result})")
    async with tinyhost.open_manager() as manager:
        await manager.load("demo")
        with pytest.raises(ProtocolError, match="bad answer to tool t"):
            await manager.call_tool("demo", "t")


async def test_last_words_are_kept_when_there_was_no_time_to_read_them(
    add_plugin: AddPlugin, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stand_still(connection: Connection) -> None:
        await connection.ended.wait()

    monkeypatch.setattr(connection_module, "_STDERR_GRACE", 0)
    monkeypatch.setattr(Connection, "_copy_stderr", stand_still)
    add_plugin("demo", "handshake()\nrecv()\nlog('out of luck')\nsys.exit(7)")
    async with tinyhost.open_manager() as manager:
        await manager.load("demo")
        with trio.fail_after(20), pytest.raises(OutcomeUncertain) as caught:
            await manager.call_tool("demo", "t")
        assert "out of luck" in caught.value.stderr


async def test_a_death_in_a_tool_call_is_uncertain_and_tells_how(add_plugin: AddPlugin) -> None:
    add_plugin("demo", "handshake()\nrecv()\nlog('out of luck')\nsys.exit(7)")
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("demo")
        with trio.fail_after(5), pytest.raises(OutcomeUncertain) as caught:
            await manager.call_tool("demo", "t")
        assert "exited with status 7" in str(caught.value)
        assert "out of luck" in caught.value.stderr
        assert "not known" in str(caught.value)
        assert plugin.state is State.RESTARTING
        assert plugin.info.pid is None
        assert "status 7" in plugin.info.message


async def test_a_death_in_a_hook_is_not_called_uncertain(add_plugin: AddPlugin) -> None:
    add_plugin("demo", "handshake(hooks=['x'])\nrecv()\nos.kill(os.getpid(), 11)")
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("demo")
        with trio.fail_after(5), pytest.raises(PluginDied, match="SIGSEGV") as caught:
            await plugin.invoke_hook("x", {})
        assert type(caught.value) is PluginDied


async def test_the_next_call_starts_a_dead_plugin_again(add_plugin: AddPlugin) -> None:
    add_plugin("demo", "handshake()\nserve(on_tool=lambda p: {'content': str(os.getpid())})")
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("demo")
        first = (await manager.call_tool("demo", "t")).content
        os.kill(int(first), signal.SIGKILL)
        await until(lambda: plugin.state is State.RESTARTING)
        assert [info.name for info in manager.list()] == ["demo"]
        second = (await manager.call_tool("demo", "t")).content
        assert second != first
        info = plugin.info
        assert (info.state, info.counters.deaths, info.counters.restarts) == (State.READY, 1, 1)


async def test_a_call_is_never_sent_twice(add_plugin: AddPlugin, tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    add_plugin(
        "demo", f"handshake()\nrecv()\nopen({str(calls)!r}, 'a').write('call ')\nsys.exit(1)"
    )
    async with tinyhost.open_manager() as manager:
        await manager.load("demo")
        with pytest.raises(OutcomeUncertain):
            await manager.call_tool("demo", "t")
        assert calls.read_text() == "call "


async def test_after_the_second_death_a_start_has_to_wait(add_plugin: AddPlugin) -> None:
    add_plugin("demo", "handshake()\nrecv()\nsys.exit(1)")
    async with tinyhost.open_manager() as manager:
        await manager.load("demo")
        for _ in range(2):
            with pytest.raises(OutcomeUncertain):
                await manager.call_tool("demo", "t")
        with pytest.raises(PluginDied, match=r"may be started again in \d\.\d s"):
            await manager.call_tool("demo", "t")


async def test_a_crash_loop_ends_in_failed_until_a_person_restarts(
    add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("demo", "handshake()\nrecv()\nlog('boom')\nsys.exit(1)")
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("demo")
        assert isinstance(plugin, ProcessPlugin)
        for _ in range(5):
            plugin._lives.supervisor.not_before = 0  # as if the waits had passed
            with pytest.raises(OutcomeUncertain):
                await manager.call_tool("demo", "t")
        assert plugin.state is State.FAILED
        with pytest.raises(PluginDied, match="died 5 times within 60 s") as caught:
            await manager.call_tool("demo", "t")
        assert "tinyhost plugin restart demo" in str(caught.value)
        assert "boom" in caught.value.stderr
        add_plugin("demo", "handshake()\nserve()")
        await plugin.restart()
        assert plugin.state is State.READY
        assert (await manager.call_tool("demo", "t")).content == "ok"


async def test_three_timeouts_in_a_row_kill_the_process(add_plugin: AddPlugin, home: Path) -> None:
    add_plugin("demo", "handshake()\nrecv()\ntime.sleep(60)")
    async with tinyhost.open_manager(settings(home, tool="50ms")) as manager:
        plugin = await manager.load("demo")
        for count in (1, 2):
            with pytest.raises(CallTimeout):
                await manager.call_tool("demo", "t")
            assert plugin.state is State.SLOW
            assert plugin.info.counters.timeouts == count
        with pytest.raises(CallTimeout):
            await manager.call_tool("demo", "t")
        assert plugin.state in (State.WEDGED, State.RESTARTING)
        await until(lambda: plugin.state is State.RESTARTING)
        assert "given up after 3 timeouts in a row" in plugin.info.message


async def test_a_slow_plugin_lives_on_and_its_late_reply_is_counted(
    add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("demo", "handshake()\nr = recv()\ntime.sleep(0.2)\nreply(r, {})\nserve()")
    async with tinyhost.open_manager(settings(home, tool="150ms")) as manager:
        plugin = await manager.load("demo")
        with pytest.raises(CallTimeout):
            await manager.call_tool("demo", "t")
        await trio.sleep(0.1)
        assert (await manager.call_tool("demo", "t")).content == "ok"
        assert plugin.info.counters.late_replies == 1
        assert plugin.state is State.READY


async def test_a_death_is_noticed_while_a_grandchild_holds_the_pipes(
    add_plugin: AddPlugin, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    add_plugin(
        "demo",
        """
        import subprocess
        handshake()
        recv()
        child = subprocess.Popen(["sleep", "60"], start_new_session=True)
        open(PIDS, "w").write(str(child.pid))
        os._exit(4)
        """.replace("PIDS", repr(str(pids))),
    )
    async with tinyhost.open_manager() as manager:
        await manager.load("demo")
        with trio.fail_after(2), pytest.raises(OutcomeUncertain, match="status 4"):
            await manager.call_tool("demo", "t")
    os.kill(int(pids.read_text()), signal.SIGKILL)


async def test_a_plugin_that_closes_its_output_is_given_up(add_plugin: AddPlugin) -> None:
    add_plugin("demo", "handshake()\nrecv()\nos.close(1)\ntime.sleep(60)")
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("demo")
        with trio.fail_after(5), pytest.raises(OutcomeUncertain, match="SIGKILL"):
            await manager.call_tool("demo", "t")
        assert plugin.state is State.RESTARTING


async def test_replies_written_before_the_exit_still_count(add_plugin: AddPlugin) -> None:
    add_plugin("demo", "handshake()\nreply(recv(), {'content': 'farewell'})\nsys.exit(0)")
    async with tinyhost.open_manager() as manager:
        await manager.load("demo")
        assert (await manager.call_tool("demo", "t")).content == "farewell"


async def test_large_requests_go_only_to_plugins_that_can_read_them(add_plugin: AddPlugin) -> None:
    count = "serve(on_tool=lambda p: {'content': str(len(p['args']))})"
    add_plugin("small", f"handshake()\n{count}")
    add_plugin("large", f"handshake(protocol={{'maxLineBytes': 8000000}})\n{count}")
    async with tinyhost.open_manager() as manager:
        await manager.load_all(["small", "large"])
        text = "x" * 2_000_000
        with pytest.raises(FrameTooLarge, match="was not sent"):
            await manager.call_tool("small", "t", text)
        assert (await manager.call_tool("small", "t", "x" * 1000)).content == "1000"
        assert (await manager.call_tool("large", "t", text)).content == "2000000"


async def test_a_flood_of_standard_error_stops_nobody(add_plugin: AddPlugin, home: Path) -> None:
    add_plugin(
        "demo",
        """
        handshake()
        for _ in range(50):
            os.write(2, b"y" * 100_000)
        os.write(2, b"\\nthe end\\n")
        serve()
        """,
    )
    async with tinyhost.open_manager() as manager:
        await manager.load("demo")
        with trio.fail_after(10):
            assert (await manager.call_tool("demo", "t")).content == "ok"
    log = home / "state" / "logs" / "plugin-demo.log"
    assert log.read_text().endswith("[line cut]\nthe end\n")
    assert log.stat().st_size < 100_000


async def test_logs_are_rotated(add_plugin: AddPlugin, home: Path) -> None:
    add_plugin(
        "demo", "for i in range(30000):\n    os.write(2, b'%098d\\n' % i)\nhandshake()\nserve()"
    )
    async with tinyhost.open_manager() as manager:
        await manager.load("demo")
    folder = home / "state" / "logs"
    files = sorted(file.name for file in folder.iterdir())
    assert files == ["plugin-demo.log", "plugin-demo.log.1"]
    assert sum(file.stat().st_size for file in folder.iterdir()) < 2_300_000
    assert (folder / "plugin-demo.log").read_text().splitlines()[-1].endswith("29999")


async def test_calls_of_a_concurrent_plugin_overlap(add_plugin: AddPlugin) -> None:
    add_plugin(
        "demo",
        """
        handshake(protocol={"concurrency": 3})
        requests = [recv(), recv(), recv()]
        for request in reversed(requests):
            reply(request, {"content": request["params"]["args"]})
        serve()
        """,
    )
    answers = {}
    async with tinyhost.open_manager() as manager:
        await manager.load("demo")

        async def call(text: str) -> None:
            answers[text] = (await manager.call_tool("demo", "t", text)).content

        with trio.fail_after(5):
            async with trio.open_nursery() as nursery:
                for text in ("a", "b", "c"):
                    nursery.start_soon(call, text)
    assert answers == {"a": "a", "b": "b", "c": "c"}


async def test_cancel_and_progress_reach_those_that_offer_them(
    add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin(
        "demo",
        """
        handshake(protocol={"concurrency": 2, "cancel": True, "progress": True})
        request = recv()
        for step in range(4):
            time.sleep(0.1)
            send({"method": "tool/progress", "params": {"id": request["id"], "message": "s%d" % step}})
        reply(request, {"content": "done"})
        request = recv()
        cancel = recv()
        asked = cancel["method"] == "tool/cancel" and cancel["params"] == {"id": request["id"]}
        serve(lambda params: {"content": str(asked)})
        """,
    )
    heard: list[str] = []
    async with tinyhost.open_manager(settings(home, tool="300ms", toolCap="5s")) as manager:
        await manager.load("demo")
        result = await manager.call_tool("demo", "t", on_progress=heard.append)
        assert (result.content, heard) == ("done", ["s0", "s1", "s2", "s3"])
        with trio.move_on_after(0.05):
            await manager.call_tool("demo", "t")
        assert (await manager.call_tool("demo", "t")).content == "True"


async def test_stopping_a_plugin_ends_its_calls(add_plugin: AddPlugin, home: Path) -> None:
    add_plugin("demo", "handshake()\nrecv()\ntime.sleep(60)")
    errors = []
    async with tinyhost.open_manager(settings(home, stop="100ms")) as manager:
        plugin = await manager.load("demo")

        async def call() -> None:
            try:
                await plugin.call_tool("t")
            except PluginDied as error:
                errors.append(error)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(call)
            await trio.testing.wait_all_tasks_blocked()
            await plugin.stop()
        assert len(errors) == 1
        with pytest.raises(PluginDied, match="was stopped"):
            await plugin.call_tool("t")


async def test_one_plugin_that_hangs_does_not_hold_up_another(
    add_plugin: AddPlugin, home: Path
) -> None:
    add_plugin("hangs", "handshake()\nrecv()\ntime.sleep(60)")
    add_plugin("quick", "handshake()\nserve()")
    async with tinyhost.open_manager(settings(home, tool="10s", stop="100ms")) as manager:
        await manager.load_all(["hangs", "quick"])
        async with trio.open_nursery() as nursery:
            nursery.start_soon(manager.call_tool, "hangs", "t")
            await trio.testing.wait_all_tasks_blocked()
            with trio.fail_after(5):
                assert (await manager.call_tool("quick", "t")).content == "ok"
            nursery.cancel_scope.cancel()


async def test_a_plugin_stopped_while_it_restarts_is_not_started_again(
    add_plugin: AddPlugin, tmp_path: Path
) -> None:
    starts = tmp_path / "starts"
    add_plugin(
        "demo",
        f"""
        with open({str(starts)!r}, "a") as file:
            file.write("x")
        handshake()
        serve()
        time.sleep(0.2)
        """,
    )
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("demo")
        assert isinstance(plugin, ProcessPlugin)

        pid = plugin.info.pid
        assert pid is not None

        async def restart() -> None:
            with pytest.raises(PluginDied, match="was stopped"):
                await plugin.restart()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(restart)
            await trio.testing.wait_all_tasks_blocked()
            await plugin.stop()
            assert plugin.state is State.STOPPED
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)
    assert starts.read_text() == "x"


async def test_the_guardian_is_there_before_the_first_plugin_is(
    add_plugin: AddPlugin, tmp_path: Path
) -> None:
    seen = tmp_path / "seen"
    add_plugin(
        "demo",
        f"""
        import os, pathlib
        host = os.getppid()
        children = pathlib.Path(f"/proc/{{host}}/task/{{host}}/children").read_text()
        pathlib.Path({str(seen)!r}).write_text(children)
        handshake()
        serve()
        """,
    )
    before = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    async with tinyhost.open_manager() as manager:
        info = (await manager.load("demo")).info
        (guardian,) = set(seen.read_text().split()) - {*before, str(info.pid)}
        assert b"guardian" in Path(f"/proc/{guardian}/cmdline").read_bytes()
