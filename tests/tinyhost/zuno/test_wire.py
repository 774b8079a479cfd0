"""The wire zuno.plugin/1 with real processes."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

import tinyhost
from tinyhost import (
    CallContext,
    CallTimeout,
    FrameTooLarge,
    InvalidCall,
    LoadError,
    OutcomeUncertain,
    PluginDied,
    RemoteError,
    State,
    Timeouts,
    ToolResult,
)
from tinyhost.config import parse_config
from tinyhost.manager import Manager
from tinyhost.process_plugin import ProcessPlugin

AddPackage = Callable[..., Path]


def runtime(**changes: Any) -> dict[str, Any]:
    import sys

    return {
        "kind": "process",
        "command": sys.executable,
        "args": ["plugin.py"],
        "capabilities": ["host.full"],
        **changes,
    }


async def until(condition: Callable[[], bool]) -> None:
    with trio.fail_after(10):
        while not condition():
            await trio.sleep(0.005)


async def call(manager: Manager, args: object = None) -> ToolResult:
    with trio.fail_after(10):
        return await manager.call_tool("p", "t", args)


async def assert_retired(manager: Manager, plugin: Any) -> None:
    """The next call is refused, and says that it was not sent; no process is left."""
    with trio.fail_after(10), pytest.raises(PluginDied) as caught:
        await manager.call_tool("p", "t")
    assert type(caught.value) is PluginDied
    assert "nothing was sent" in str(caught.value)
    assert "not started again" in str(caught.value)
    assert plugin.state is State.FAILED
    assert plugin.info.pid is None


# --- requests


async def test_requests_have_the_members_and_ids_of_the_wire(
    add_package: AddPackage, tmp_path: Path
) -> None:
    seen = tmp_path / "seen"
    body = f"""
    with open({str(seen)!r}, "w") as file:
        while (line := sys.stdin.readline()):
            file.write(line)
            file.flush()
            request = json.loads(line)
            if request["method"] == "initialize":
                reply(request, {{"protocolVersion": "zuno.plugin/1"}})
            elif request["method"] == "shutdown":
                reply(request, None)
                break
            else:
                reply(request, answer())
    """
    folder = add_package("p", body)
    project = tmp_path / "project"
    project.mkdir()
    async with tinyhost.open_manager(directory=project) as manager:
        await manager.load("p")
        context = CallContext(session_id="ses_1", directory="/")
        await manager.get("p").call_tool("t", {"ä": 1.50}, context)
        await manager.call_tool("p", "t")
    first, *calls, last = map(json.loads, seen.read_text().splitlines())
    assert first == {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "zuno.plugin/1",
            "packageId": "p",
            "packageRoot": str(folder),
            "workspace": str(project),
            "capabilities": ["host.full"],
        },
    }
    assert [request["id"] for request in calls] == [2, 3]
    assert {request["method"] for request in calls} == {"tools/call"}
    for request in calls:
        assert set(request["params"]) == {
            "tool",
            "arguments",
            "sessionId",
            "messageId",
            "callId",
            "agent",
        }
    params = calls[0]["params"]
    assert (params["tool"], params["arguments"], params["sessionId"]) == ("t", {"ä": 1.5}, "ses_1")
    assert all(type(params[key]) is str and params[key] for key in ("messageId", "callId", "agent"))
    assert calls[1]["params"]["arguments"] == {}
    assert calls[1]["params"]["sessionId"]
    assert calls[0]["params"]["callId"] != calls[1]["params"]["callId"]
    assert last == {"jsonrpc": "2.0", "id": 4, "method": "shutdown", "params": {}}
    assert "ä" in seen.read_text()


async def test_a_package_runs_in_its_own_folder_with_the_hosts_variables(
    add_package: AddPackage, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy")
    monkeypatch.setenv("SOME_TOKEN", "very-secret")
    folder = add_package(
        "p",
        """
        start()
        serve(lambda params: answer(json.dumps([os.getcwd(), dict(os.environ)])))
        """,
    )
    async with tinyhost.open_manager() as manager:
        await manager.load("p")
        cwd, env = json.loads((await call(manager)).content)
        assert cwd == os.path.realpath(folder)
        assert env["HTTPS_PROXY"] == "http://proxy"
        assert "SOME_TOKEN" not in env
    settings = {"p": {"inheritEnv": False, "passEnv": ["SOME_TOKEN"]}}
    config = parse_config(json.dumps({"settings": settings}), str(home / "config" / "c.json"))
    async with tinyhost.open_manager(config) as manager:
        await manager.load("p")
        _, env = json.loads((await call(manager)).content)
        assert "HTTPS_PROXY" not in env
        assert env["SOME_TOKEN"] == "[redacted]"  # it has it, and cannot show it


async def test_it_is_started_by_loading_it_and_not_by_the_first_call(
    add_package: AddPackage, tmp_path: Path
) -> None:
    add_package("p", f"open({str(tmp_path / 'started')!r}, 'w').close()\nstart()\nserve()")
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("p")
        assert (tmp_path / "started").exists()
        assert plugin.state is State.READY
        assert plugin.info.pid is not None
        assert (plugin.info.dialect, plugin.info.hooks) == ("zuno", ())
        with pytest.raises(InvalidCall, match="has no hook"):
            await plugin.invoke_hook("permission.ask", {})


async def test_arguments_that_do_not_fit_the_schema_are_not_sent(add_package: AddPackage) -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer", "maximum": 3}},
        "required": ["n"],
        "additionalProperties": False,
    }
    add_package(
        "p",
        "start()\nserve(lambda params: answer(json.dumps(params['arguments'])))",
        tools={"t": {"description": "x", "parameters": schema}},
    )
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("p")
        for bad, says in [
            ({}, "'n' is a required property"),
            (None, "'n' is a required property"),
            ({"n": 4}, r"\$\.n: 4 is greater"),
            ({"n": 1, "m": 1}, "'m' was unexpected"),
            ([1], "must be an object"),
        ]:
            with pytest.raises(InvalidCall, match=says) as caught:
                await call(manager, bad)
            assert "nothing was sent" in str(caught.value)
        assert (await call(manager, {"n": 3})).content == '{"n": 3}'
        assert plugin.state is State.READY


async def test_calls_go_one_after_the_other(add_package: AddPackage) -> None:
    add_package(
        "p",
        """
        start()
        def call(params):
            # A second request would be there at once.
            time.sleep(0.05)
            os.set_blocking(0, False)
            rest = sys.stdin.buffer.peek()
            os.set_blocking(0, True)
            return answer(repr(rest))
        serve(call)
        """,
    )
    async with tinyhost.open_manager() as manager:
        await manager.load("p")
        results: list[str] = []

        async def one() -> None:
            results.append((await call(manager)).content)

        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(one)
        assert results == ["b''"] * 3


async def test_a_request_longer_than_a_frame_is_not_sent(add_package: AddPackage) -> None:
    add_package("p", "start()\nserve(lambda params: answer(str(len(params['arguments']['x']))))")
    async with tinyhost.open_manager() as manager:
        await manager.load("p")
        with pytest.raises(FrameTooLarge, match="was not sent"):
            await call(manager, {"x": "x" * 8 * 1024 * 1024})
        size = 8 * 1024 * 1024 - 1000
        assert (await call(manager, {"x": "x" * size})).content == str(size)


# --- results


async def test_a_result_has_its_title_and_metadata_apart(add_package: AddPackage) -> None:
    metadata = {"provider": "example", "latencyMs": 412, "cancellation": {"a": [1.50]}}
    add_package("p", f"start()\nserve(lambda params: answer('# Übersicht', metadata={metadata!r}))")
    async with tinyhost.open_manager() as manager:
        await manager.load("p")
        result = await call(manager)
        assert result == ToolResult("# Übersicht", details={"title": "t", "metadata": metadata})


async def test_metadata_may_be_null_and_other_members_do_not_matter(
    add_package: AddPackage,
) -> None:
    add_package("p", "start()\nserve(lambda params: answer(metadata=None, usage=3))")
    async with tinyhost.open_manager() as manager:
        await manager.load("p")
        assert await call(manager) == ToolResult("done", details={"title": "t"})


async def test_what_commands_a_terminal_is_taken_out(add_package: AddPackage) -> None:
    text = "\x1b[31mred\x1b[0m\x1b]0;title\x07 a\x00b\x08\r\nline\ttab \u202eback \x9b2Jend \ud800."
    add_package(
        "p",
        f"""
        start()
        request = recv()
        text = {text!r}
        result = {{"title": text, "output": text, "metadata": {{text: [text]}}}}
        message = {{"jsonrpc": "2.0", "id": request["id"], "result": result}}
        raw(json.dumps(message) + "\\n")
        recv()
        """,
    )
    async with tinyhost.open_manager() as manager:
        await manager.load("p")
        result = await call(manager)
        clean = "red ab\nline\ttab back end ."
        assert result.content == clean
        assert result.details == {"title": clean, "metadata": {clean: [clean]}}


async def test_secrets_are_taken_out_of_results_and_errors(
    add_package: AddPackage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_PASSWORD", "correct-horse")
    token = "ghp_" + "a1B2" * 10
    add_package(
        "p",
        f"""
        start()
        text = "it is correct-horse or {token} or Authorization: Bearer abc.def-ghi123"
        request = recv()
        reply(request, answer(text, title=text, metadata={{"a": text}}))
        request = recv()
        fail(request, "\\x1b[1m" + text, data={{"why": text}})
        log(text + "\\n")
        recv()
        os._exit(3)
        """,
    )
    async with tinyhost.open_manager() as manager:
        await manager.load("p")
        clean = "it is [redacted] or [redacted] or Authorization: Bearer [redacted]"
        result = await call(manager)
        assert result.content == clean
        assert result.details == {"title": clean, "metadata": {"a": clean}}
        with pytest.raises(RemoteError) as refused:
            await call(manager)
        assert (refused.value.remote_message, refused.value.data) == (clean, {"why": clean})
        with pytest.raises(OutcomeUncertain) as lost:
            await call(manager)
        assert lost.value.stderr == clean + "\n"


async def test_long_results_are_cut_and_say_so(add_package: AddPackage) -> None:
    add_package(
        "p",
        """
        start()
        serve(lambda params: answer("x" * 600000, title="y" * 600, metadata={"z": "z" * 70000}))
        """,
    )
    async with tinyhost.open_manager() as manager:
        await manager.load("p")
        result = await call(manager)
        limit = 512 * 1024
        left = 600000 - limit
        assert result.content == "x" * limit + f"\n[{left} more characters were left out]"
        assert result.details["title"] == "y" * 512 + "\n[88 more characters were left out]"
        assert set(result.details["metadata"]) == {"leftOut"}


# --- failures


async def test_an_error_answer_does_not_retire(add_package: AddPackage) -> None:
    add_package(
        "p",
        """
        start()
        request = recv()
        fail(request, "no account", -32001)
        request = recv()
        raw(json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": {}}) + "\\n")
        serve()
        """,
    )
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("p")
        with pytest.raises(RemoteError, match="error -32001: no account"):
            await call(manager)
        with pytest.raises(RemoteError, match="no reason given"):
            await call(manager)
        assert (await call(manager)).content == "done"
        assert plugin.state is State.READY


# What is written in place of an answer, and what is said of it.
BROKEN = {
    "not JSON": (b"hello\n", "not JSON|Expecting|malformed|invalid"),
    "a banner before the answer": (b"Starting up...\n", "rules of its wire"),
    "an empty line": (b"\n", "an empty line"),
    "a byte order mark": (b"\xef\xbb\xbf{}\n", "byte order mark"),
    "bytes that are not UTF-8": (b'{"jsonrpc":"2.0","id":2,"result":"\xff"}\n', "not UTF-8"),
    "an array": (b"[]\n", "batch"),
    "another id": (b'{"jsonrpc":"2.0","id":9,"result":{}}\n', "no request"),
    "the id as text": (b'{"jsonrpc":"2.0","id":"2","result":{}}\n', "not an integer"),
    "the id as a fraction": (b'{"jsonrpc":"2.0","id":2.0,"result":{}}\n', "not an integer"),
    "a null id": (b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}\n', "integer"),
    "no version": (b'{"id":2,"result":{"title":"t","output":"o"}}\n', "jsonrpc"),
    "another version": (b'{"jsonrpc":"1.0","id":2,"result":{}}\n', "version"),
    "neither result nor error": (b'{"jsonrpc":"2.0","id":2}\n', "neither result nor error"),
    "a notification": (b'{"jsonrpc":"2.0","method":"log","params":{}}\n', "notification"),
    "a request": (b'{"jsonrpc":"2.0","id":1,"method":"x"}\n', "request from the plugin"),
    "NaN": (b'{"jsonrpc":"2.0","id":2,"result":NaN}\n', "NaN|JSON"),
    "a result that is null": (b'{"jsonrpc":"2.0","id":2,"result":null}\n', "not an object"),
    "a result that is text": (b'{"jsonrpc":"2.0","id":2,"result":"x"}\n', "not an object"),
    "no title": (b'{"jsonrpc":"2.0","id":2,"result":{"output":"x"}}\n', "title is missing"),
    "no output": (b'{"jsonrpc":"2.0","id":2,"result":{"title":"x"}}\n', "output is missing"),
    "output that is a number": (
        b'{"jsonrpc":"2.0","id":2,"result":{"title":"x","output":1}}\n',
        "output is not a string",
    ),
    "metadata that is an array": (
        b'{"jsonrpc":"2.0","id":2,"result":{"title":"x","output":"x","metadata":[]}}\n',
        "metadata is neither",
    ),
}


@pytest.mark.parametrize(("line", "says"), BROKEN.values(), ids=BROKEN.keys())
async def test_a_line_that_breaks_the_rules_retires_and_the_outcome_is_uncertain(
    add_package: AddPackage, line: bytes, says: str, tmp_path: Path
) -> None:
    calls = tmp_path / "calls"
    add_package(
        "p",
        f"""
        start()
        log("the last words\\n")
        while recv():
            open({str(calls)!r}, "a").write("call ")
            raw({line!r})
        """,
    )
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("p")
        with pytest.raises(OutcomeUncertain, match=says) as caught:
            await call(manager)
        assert "whether it had its effect is not known" in str(caught.value)
        await assert_retired(manager, plugin)
        assert calls.read_text() == "call "


async def test_an_answer_longer_than_a_frame_retires(add_package: AddPackage) -> None:
    add_package("p", "start()\nserve(lambda params: answer('x' * 8 * 1024 * 1024))")
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("p")
        with pytest.raises(OutcomeUncertain, match="8388608"):
            await call(manager)
        await assert_retired(manager, plugin)


async def test_an_answer_just_within_a_frame_is_taken(add_package: AddPackage) -> None:
    add_package("p", "start()\nserve(lambda params: answer('x' * (8 * 1024 * 1024 - 200)))")
    async with tinyhost.open_manager() as manager:
        await manager.load("p")
        assert (await call(manager)).content.endswith("more characters were left out]")


async def test_an_answer_without_its_line_end_is_no_answer(add_package: AddPackage) -> None:
    add_package(
        "p",
        """
        start()
        request = recv()
        message = {"jsonrpc": "2.0", "id": request["id"], "result": answer()}
        raw(json.dumps(message))
        os._exit(0)
        """,
    )
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("p")
        with pytest.raises(OutcomeUncertain):
            await call(manager)
        await assert_retired(manager, plugin)


async def test_a_line_that_nobody_asked_for_retires_at_once(add_package: AddPackage) -> None:
    add_package("p", "start()\nrequest = recv()\nreply(request, answer())\nraw('late\\n')\nrecv()")
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("p")
        assert (await call(manager)).content == "done"
        await until(lambda: plugin.state is State.FAILED)
        await assert_retired(manager, plugin)


@pytest.mark.parametrize("end", ["os._exit(7)", "os.kill(os.getpid(), 9)", "os.close(1)\nrecv()"])
async def test_a_death_in_a_call_is_uncertain_and_never_replayed(
    add_package: AddPackage, end: str, tmp_path: Path
) -> None:
    calls = tmp_path / "calls"
    body = f"start()\nrecv()\nopen({str(calls)!r}, 'a').write('call ')\nlog('out of luck')\n{end}"
    add_package("p", body)
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("p")
        with pytest.raises(OutcomeUncertain, match="out of luck"):
            await call(manager)
        await assert_retired(manager, plugin)
        assert calls.read_text() == "call "


async def test_a_death_while_nothing_is_asked_is_seen_and_nothing_is_sent(
    add_package: AddPackage,
) -> None:
    add_package("p", "start()\nserve(lambda params: answer(str(os.getpid())))")
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("p")
        os.kill(int((await call(manager)).content), signal.SIGKILL)
        await until(lambda: plugin.state is State.FAILED)
        await assert_retired(manager, plugin)


async def test_a_timeout_retires_and_is_uncertain(add_package: AddPackage) -> None:
    add_package("p", "start()\nrecv()\ntime.sleep(60)", runtime=runtime(timeoutMs=900))
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("p")
        with pytest.raises(OutcomeUncertain, match=r"no answer to tools/call within 0\.9 s"):
            await call(manager)
        await assert_retired(manager, plugin)


async def test_a_configured_timeout_counts_before_the_packages(
    add_package: AddPackage, home: Path
) -> None:
    add_package("p", "start()\nrecv()\ntime.sleep(60)")
    settings = {"p": {"timeouts": {"tool": "200ms"}}}
    config = parse_config(json.dumps({"settings": settings}), str(home / "config" / "c.json"))
    async with tinyhost.open_manager(config) as manager:
        await manager.load("p")
        with pytest.raises(OutcomeUncertain, match=r"within 0\.2 s"):
            await call(manager)


async def test_a_cancelled_call_retires_the_whole_group(
    add_package: AddPackage, tmp_path: Path
) -> None:
    child = tmp_path / "child"
    add_package(
        "p",
        f"""
        start()
        recv()
        sleeper = subprocess.Popen(["sleep", "60"])
        open({str(child)!r} + ".new", "w").write(str(sleeper.pid))
        os.rename({str(child)!r} + ".new", {str(child)!r})
        time.sleep(60)
        """,
    )
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("p")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(call, manager)
            await until(child.exists)
            nursery.cancel_scope.cancel()
        await until(lambda: plugin.state is State.FAILED)
        pid = int(child.read_text())
        await until(lambda: not Path(f"/proc/{pid}").exists())
        await assert_retired(manager, plugin)


async def test_a_call_that_is_cancelled_while_it_waits_leaves_the_process_alone(
    add_package: AddPackage, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    add_package(
        "p",
        f"""
        start()
        def call(params):
            while not os.path.exists({str(go)!r}):
                time.sleep(0.005)
            return answer()
        serve(call)
        """,
    )
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("p")
        async with trio.open_nursery() as outer:
            outer.start_soon(call, manager)
            await until(lambda: plugin.info.counters.calls == 1)
            async with trio.open_nursery() as inner:
                inner.start_soon(call, manager)
                await until(lambda: plugin.info.counters.calls == 2)
                inner.cancel_scope.cancel()
            go.touch()
        assert (await call(manager)).content == "done"
        assert plugin.state is State.READY


async def test_a_call_that_waited_too_long_was_not_sent_and_retires_nothing(
    add_package: AddPackage, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    add_package(
        "p",
        f"""
        start()
        def call(params):
            while not os.path.exists({str(go)!r}):
                time.sleep(0.005)
            return answer()
        serve(call)
        """,
    )
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("p")
        assert isinstance(plugin, ProcessPlugin)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(call, manager)
            await until(lambda: plugin.info.counters.calls == 1)
            assert plugin._link is not None
            plugin._link.timeouts = Timeouts(tool=0.05)
            with pytest.raises(CallTimeout, match="was not sent") as caught:
                await call(manager)
            assert caught.value.busy
            go.touch()
        plugin._link.timeouts = Timeouts()
        assert (await call(manager)).content == "done"
        assert plugin.state is State.READY


async def test_a_person_may_start_a_retired_plugin_again(add_package: AddPackage) -> None:
    add_package("p", "start()\nif recv()['params'].get('tool'): os._exit(1)")
    async with tinyhost.open_manager() as manager:
        plugin = await manager.load("p")
        with pytest.raises(OutcomeUncertain):
            await call(manager)
        await assert_retired(manager, plugin)
        await plugin.restart()  # type: ignore[attr-defined]
        assert plugin.state is State.READY


async def test_the_last_64_kib_of_standard_error_are_kept(add_package: AddPackage) -> None:
    add_package(
        "p",
        """
        start()
        recv()
        log("first\\n" + "line of text\\n" * 10000 + "the very last")
        os._exit(1)
        """,
    )
    async with tinyhost.open_manager() as manager:
        await manager.load("p")
        with pytest.raises(OutcomeUncertain) as caught:
            await call(manager)
        assert len(caught.value.stderr) == 64 * 1024
        assert caught.value.stderr.endswith("the very last\n")
        assert "the very last" in str(caught.value)
        assert len(str(caught.value)) < 4000


# --- initialize


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("fail(recv(), 'no account')", "refused to initialize: error -32000: no account"),
        ("recv()\nos._exit(3)", "exited with status 3"),
        ("recv()\nraw('welcome\\n')\nrecv()", "."),
        ("reply(recv(), {})\nrecv()", "speaks no version, not zuno.plugin/1"),
        ("reply(recv(), {'protocolVersion': 2})\nrecv()", "speaks 2, not zuno.plugin/1"),
        ("log('no such module')\nos._exit(1)", "no such module"),
    ],
)
async def test_a_package_that_does_not_initialize_is_not_loaded(
    add_package: AddPackage, body: str, says: str
) -> None:
    add_package("p", body)
    async with tinyhost.open_manager() as manager:
        with trio.fail_after(10), pytest.raises(LoadError, match=says) as caught:
            await manager.load("p")
        assert caught.value.stage == "handshake"
        assert manager.list() == []


async def test_an_initialize_without_answer_ends_at_the_packages_timeout(
    add_package: AddPackage,
) -> None:
    add_package("p", "time.sleep(60)", runtime=runtime(timeoutMs=100))
    async with tinyhost.open_manager() as manager:
        with trio.fail_after(10), pytest.raises(LoadError, match=r"within 0\.1 s"):
            await manager.load("p")


async def test_another_version_is_told_to_shut_down(
    add_package: AddPackage, tmp_path: Path
) -> None:
    seen = tmp_path / "seen"
    add_package(
        "p",
        f"""
        reply(recv(), {{"protocolVersion": "zuno.plugin/2"}})
        request = recv()
        open({str(seen)!r}, "w").write(request["method"])
        reply(request, {{}})
        recv()
        """,
    )
    async with tinyhost.open_manager() as manager:
        with trio.fail_after(10), pytest.raises(LoadError, match=r'"zuno\.plugin/2"'):
            await manager.load("p")
    assert seen.read_text() == "shutdown"


# --- shutdown


async def test_after_its_reply_to_shutdown_it_may_tidy_up(
    add_package: AddPackage, tmp_path: Path
) -> None:
    tidy = tmp_path / "tidy"
    add_package(
        "p",
        f"""
        signal.signal(signal.SIGTERM, lambda *_: os._exit(1))
        start()
        serve()
        time.sleep(0.3)
        open({str(tidy)!r}, "w").close()
        """,
    )
    async with tinyhost.open_manager() as manager:
        await manager.load("p")
    assert tidy.exists()


async def test_one_that_does_not_end_by_itself_is_ended(
    add_package: AddPackage, home: Path
) -> None:
    add_package(
        "p",
        """
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        start()
        reply(recv(), {})
        time.sleep(60)
        """,
    )
    settings = {"p": {"timeouts": {"stop": "100ms"}}}
    config = parse_config(json.dumps({"settings": settings}), str(home / "config" / "c.json"))
    with trio.fail_after(10):
        async with tinyhost.open_manager(config) as manager:
            await manager.load("p")


async def test_a_running_call_does_not_hold_up_the_end(add_package: AddPackage, home: Path) -> None:
    add_package("p", "start()\nrecv()\ntime.sleep(60)")
    settings = {"p": {"timeouts": {"stop": "100ms"}}}
    config = parse_config(json.dumps({"settings": settings}), str(home / "config" / "c.json"))
    with trio.fail_after(10):
        async with tinyhost.open_manager(config) as manager:
            plugin = await manager.load("p")

            async def lost() -> None:
                with pytest.raises(OutcomeUncertain):
                    await manager.call_tool("p", "t")

            async with trio.open_nursery() as nursery:
                nursery.start_soon(lost)
                await until(lambda: plugin.info.counters.calls == 1)
                await manager.unload("p")
